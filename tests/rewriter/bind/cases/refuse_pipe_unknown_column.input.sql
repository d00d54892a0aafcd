FROM t |> SELECT a |> WHERE b > 1
