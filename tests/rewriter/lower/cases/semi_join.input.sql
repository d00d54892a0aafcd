SELECT city FROM dealers d LEFT SEMI JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 1
