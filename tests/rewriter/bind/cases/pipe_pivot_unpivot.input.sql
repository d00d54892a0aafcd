FROM t |> PIVOT (sum(b) FOR a IN (1, 2)) |> UNPIVOT (v FOR n IN (`1`, `2`))
