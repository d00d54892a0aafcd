FROM t |> EXTEND a + b AS s, s * 2 AS d |> SET a = b, b = a + 1 |> DROP s
