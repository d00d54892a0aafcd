SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, rating FROM dealers ORDER BY n DESC LIMIT 2
