-- blocks
SELECT n, count(*) FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) GROUP BY CUBE (n)
