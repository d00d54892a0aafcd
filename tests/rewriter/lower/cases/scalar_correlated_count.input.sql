SELECT city, (SELECT count(*) FROM cars c WHERE c.dealer = d.dealer) AS n FROM dealers d ORDER BY n
