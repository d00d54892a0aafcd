FROM t |> SELECT a, b, 1 AS c
