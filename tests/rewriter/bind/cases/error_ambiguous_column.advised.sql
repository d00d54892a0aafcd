SELECT t.a FROM t JOIN t AS u ON t.a = u.a
