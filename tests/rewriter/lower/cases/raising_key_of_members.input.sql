-- blocks
SELECT d.city, t.share FROM (SELECT DISTINCT 100 / c.price AS share FROM cars c WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id)) t JOIN dealers d ON d.rating = t.share
