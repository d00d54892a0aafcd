SELECT t.v, g.n FROM b1 t JOIN (SELECT k, count(*) AS n FROM b1 GROUP BY k) g ON t.k = g.k
