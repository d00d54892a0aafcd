SELECT shuffle(array(a, b)) AS v, row_number() OVER (ORDER BY rand()) AS n FROM t
