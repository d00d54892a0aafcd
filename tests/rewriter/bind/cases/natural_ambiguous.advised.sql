SELECT 1 FROM (SELECT a, b AS c FROM t) l2 JOIN t ON l2.a = t.a
