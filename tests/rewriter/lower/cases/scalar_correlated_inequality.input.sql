-- blocks
SELECT model, (SELECT count(*) FROM bids b WHERE b.amount > c.price) AS n FROM cars c
