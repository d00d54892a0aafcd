-- blocks
SELECT w.word, c.price
FROM words(TABLE(cars) PARTITION BY dealer ORDER BY (price DESC, car_id)) w
JOIN cars c ON c.model = w.word
