VALUES (1, array(2, 3)) AS v(p, q) |> JOIN t ON a = p
|> INTERSECT ALL (FROM nested LATERAL VIEW explode(arr) e AS c |> SELECT a, c, a, a)
