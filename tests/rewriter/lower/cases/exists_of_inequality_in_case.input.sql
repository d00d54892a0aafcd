SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM bids b WHERE b.amount > c.price) THEN 1 ELSE 0 END) AS n FROM cars c
