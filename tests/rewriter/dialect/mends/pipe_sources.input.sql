select * from (from a join b on a.k = b.k |> select distinct x) where x in (from u, v |> pivot (sum(x) for k in (1, 2))) and x > (values (1) |> where col1 = 1)
