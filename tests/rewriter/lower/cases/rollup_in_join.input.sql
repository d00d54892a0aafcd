-- blocks
SELECT t.dealer, t.n, d.city FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer WITH ROLLUP HAVING count(*) > 1) t JOIN dealers d ON t.dealer <=> d.dealer WHERE t.n < 9
