-- blocks
SELECT c.model, t.m FROM cars c, (SELECT max(price) AS m FROM cars) t WHERE c.price = t.m
