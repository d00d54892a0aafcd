SELECT c.model, t.buyer FROM cars c, LATERAL (SELECT buyer FROM bids b WHERE b.car_id = c.car_id) t
