SELECT city FROM dealers d WHERE EXISTS (SELECT 1 FROM cars c WHERE c.price > d.rating)
