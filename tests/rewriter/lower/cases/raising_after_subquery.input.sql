-- blocks
SELECT c.car_id FROM cars c WHERE c.price > (SELECT min(price) FROM cars) AND 100 / c.price > 2
