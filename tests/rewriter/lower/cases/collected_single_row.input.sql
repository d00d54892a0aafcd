-- blocks
SELECT collect_list(n)[0] AS first FROM (SELECT sum(price) AS n FROM cars)
