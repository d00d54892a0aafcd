-- blocks
SELECT car_id, c.price, d.price AS other FROM cars c FULL JOIN cars_2 d USING (car_id) WHERE coalesce(c.price, 9) > 3
