select a from t union all select b from u intersect select c from v |> where a > 1 union select 3
