SELECT a, e FROM t LEFT JOIN LATERAL explode(b) AS u(e)
