-- blocks
SELECT bid FROM bids b WHERE b.amount IN (SELECT max(c.price) FROM cars c WHERE c.car_id = b.car_id GROUP BY c.car_id)
