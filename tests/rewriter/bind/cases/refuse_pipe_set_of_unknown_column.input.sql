FROM t |> SET c = 1
