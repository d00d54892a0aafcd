SELECT a FROM t WHERE b IN (SELECT rank() OVER (ORDER BY u.b) FROM t AS u WHERE u.a = t.a)
