SELECT * FROM l PIVOT (coalesce(sum(x), 0) + 1, avg(x) AS m FOR k IN (1, 2 AS two))
