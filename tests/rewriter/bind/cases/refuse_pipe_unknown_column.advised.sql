FROM t |> SELECT a, b |> WHERE b > 1
