-- blocks
SELECT d.city FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer WHERE d.rating / coalesce(c.price, 0) > 1
