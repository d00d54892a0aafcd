-- blocks
SELECT model FROM cars WHERE car_id NOT IN (SELECT car_id FROM bids) OR price < 10
