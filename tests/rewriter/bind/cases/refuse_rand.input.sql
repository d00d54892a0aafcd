SELECT a, rand() FROM t
