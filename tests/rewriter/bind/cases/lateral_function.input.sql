SELECT c.car_id, w.word
FROM cars c, LATERAL words(c.model, 1) AS w(word, n)
WHERE w.n > 1
