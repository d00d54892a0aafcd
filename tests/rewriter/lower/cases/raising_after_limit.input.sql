-- blocks
SELECT 100 / price AS share FROM (SELECT price FROM cars ORDER BY car_id LIMIT 2) t
