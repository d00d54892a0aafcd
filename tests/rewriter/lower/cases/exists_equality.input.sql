-- blocks
SELECT city FROM dealers d WHERE EXISTS (SELECT 1 FROM cars c WHERE c.dealer = d.dealer AND c.price > 10)
