-- blocks
SELECT c.model, d.city, c.price * 2 AS twice FROM cars c JOIN dealers d ON c.dealer = d.dealer WHERE c.price > 10
