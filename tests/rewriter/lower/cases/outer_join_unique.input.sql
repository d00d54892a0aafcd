-- blocks
SELECT c.model, d.city FROM cars c LEFT JOIN dealers d ON d.dealer = c.dealer
