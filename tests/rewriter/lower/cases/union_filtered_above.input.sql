SELECT * FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, 1 FROM dealers) t WHERE n > 2 AND dealer <> 'x'
