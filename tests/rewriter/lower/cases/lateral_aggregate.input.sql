-- blocks
SELECT c.model, t.n FROM cars c, LATERAL (SELECT count(*) AS n FROM bids b WHERE b.car_id = c.car_id) t
