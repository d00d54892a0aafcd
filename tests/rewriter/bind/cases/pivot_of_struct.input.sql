SELECT * FROM (SELECT struct(k, j) AS s, x FROM l) PIVOT (sum(x) FOR s IN ((1, 2), (3, 4) AS three))
