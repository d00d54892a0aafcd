SELECT * FROM t LEFT JOIN LATERAL range(3) AS n(i) ON n.i > t.a
