SELECT s, x FROM (SELECT s, upper(c) AS x FROM padded)
EXCEPT
SELECT s, d FROM padded GROUP BY s, d
