SELECT t.rate FROM (SELECT rate, city FROM rates ORDER BY rate LIMIT 2) t JOIN cars c ON t.city = c.dealer
