-- blocks
SELECT c.model FROM cars c JOIN (SELECT dealer, max(price) AS p FROM cars GROUP BY dealer) g ON c.price = g.p
