SELECT c.model, r.rate FROM cars c, rates r ORDER BY c.price LIMIT 2
