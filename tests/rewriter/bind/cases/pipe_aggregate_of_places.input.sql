FROM t |> SELECT b, a |> AGGREGATE max(a) AS m GROUP BY 1
