SELECT model FROM cars WHERE (car_id, price) NOT IN (SELECT car_id, amount FROM bids)
