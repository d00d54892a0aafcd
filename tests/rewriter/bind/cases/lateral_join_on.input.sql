SELECT a, e FROM t JOIN LATERAL explode(b) AS u(e) ON e > a
