SELECT x.a, y.b FROM t AS x JOIN t AS y ON x.a = y.a
