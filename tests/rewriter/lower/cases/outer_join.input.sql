-- blocks
SELECT d.city, c.price FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 2
