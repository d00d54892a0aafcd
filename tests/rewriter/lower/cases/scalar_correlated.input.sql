-- blocks
SELECT model, price FROM cars c WHERE price > (SELECT 0.5 * avg(amount) FROM bids b WHERE b.car_id = c.car_id)
