-- blocks
SELECT n, count(*) AS groups FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g GROUP BY n
