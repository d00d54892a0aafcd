SELECT a, (SELECT sum(v) FROM explode(array(t.a, t.b)) AS e(v)) AS s FROM t
