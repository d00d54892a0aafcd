SELECT model FROM cars WHERE NOT (car_id IN (SELECT car_id FROM bids) AND price < 10)
