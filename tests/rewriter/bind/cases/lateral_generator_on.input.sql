SELECT * FROM t LEFT JOIN LATERAL explode(array(a, b)) AS e(v) ON v > t.b
