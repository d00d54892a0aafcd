-- blocks
SELECT c.model, count(*) AS n, max(d.rating) AS best FROM cars c JOIN dealers d ON c.price > d.rating + (SELECT avg(amount) FROM bids) WHERE c.price > (SELECT min(amount) FROM bids) AND d.city IN (SELECT city FROM dealers WHERE rating > 3) GROUP BY c.model
