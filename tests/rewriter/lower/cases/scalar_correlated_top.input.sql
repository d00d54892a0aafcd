SELECT model, (SELECT buyer FROM bids b WHERE b.car_id = c.car_id ORDER BY amount DESC LIMIT 1) AS buyer FROM cars c
