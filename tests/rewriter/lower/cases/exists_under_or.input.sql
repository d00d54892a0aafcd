-- blocks
SELECT model FROM cars c WHERE EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id) OR price < 10
