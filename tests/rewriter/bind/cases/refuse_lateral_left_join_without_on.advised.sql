SELECT a, e FROM t LEFT JOIN LATERAL explode(array(b)) AS u(e) ON TRUE
