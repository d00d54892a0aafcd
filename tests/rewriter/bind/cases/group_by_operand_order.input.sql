SELECT (b + a) * 2, b > a FROM t GROUP BY a + b, a < b
