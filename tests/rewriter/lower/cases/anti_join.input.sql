-- blocks
SELECT city FROM dealers d LEFT ANTI JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 2
