FROM t |> WHERE a > 1 |> SORT BY b
