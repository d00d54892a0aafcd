SELECT dealer, count(*) AS n FROM cars GROUP BY dealer HAVING dealer > 'a' AND count(*) > 1
