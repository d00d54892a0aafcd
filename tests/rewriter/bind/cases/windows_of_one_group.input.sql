SELECT rank() OVER (ORDER BY max(b)) AS r FROM t
