SELECT * FROM words(TABLE(SELECT c.dealer, c.model, d.city FROM cars c JOIN dealers d ON c.dealer = d.dealer) PARTITION BY dealer)
