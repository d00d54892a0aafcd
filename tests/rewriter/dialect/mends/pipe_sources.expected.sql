SELECT * FROM (FROM a JOIN b ON a.k = b.k |> SELECT DISTINCT x) WHERE x IN (FROM u, v |> PIVOT(SUM(x) FOR k IN (1, 2))) AND x > (VALUES (1) |> WHERE col1 = 1)
