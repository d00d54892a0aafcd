SELECT a, sum(b) AS s, sum(sum(b)) OVER (PARTITION BY a % 2) AS total, rank() OVER (ORDER BY sum(b), count(*)) AS r
FROM t
GROUP BY a
HAVING count(*) > 1
