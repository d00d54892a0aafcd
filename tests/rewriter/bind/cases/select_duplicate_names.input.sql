SELECT a, a, b AS a FROM t
