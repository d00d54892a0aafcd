SELECT model FROM cars c WHERE dealer IN (SELECT dealer FROM dealers d WHERE d.rating > c.price UNION SELECT buyer FROM bids b WHERE b.car_id = c.car_id)
