SELECT dealer, count(*) AS n FROM cars GROUP BY dealer HAVING n > 2
