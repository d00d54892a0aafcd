SELECT car_id FROM (SELECT car_id, rank() OVER (ORDER BY price) AS r FROM cars) t ORDER BY r DESC LIMIT 2
