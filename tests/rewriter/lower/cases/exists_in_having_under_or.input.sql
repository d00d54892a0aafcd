SELECT dealer, count(*) AS n FROM cars c GROUP BY dealer HAVING count(*) > 2 OR EXISTS (SELECT 1 FROM dealers d WHERE d.dealer = c.dealer)
