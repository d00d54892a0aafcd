-- blocks
SELECT c.model, r.rate FROM cars c JOIN rates r ON c.dealer = r.city
