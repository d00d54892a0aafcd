SELECT c.model, t.buyer FROM cars c LEFT JOIN LATERAL (SELECT buyer FROM bids b WHERE b.car_id = c.car_id) t ON t.buyer > 'a'
