WITH c AS (FROM cars |> WHERE price > 1)
SELECT model FROM (FROM c |> EXTEND price + 1 AS p) AS d WHERE p > (FROM t |> AGGREGATE max(a) AS m)
