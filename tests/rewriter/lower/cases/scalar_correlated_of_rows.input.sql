SELECT model, (SELECT d.city FROM dealers d WHERE d.dealer = c.dealer) AS city FROM cars c
