WITH c(k, n) AS (SELECT a, count(*) FROM t GROUP BY a)
SELECT x.n, y.n FROM c AS x JOIN c AS y ON x.k = y.k WHERE x.n = (SELECT max(n) FROM c)
