SELECT t.a AS x, t.b AS y FROM t
