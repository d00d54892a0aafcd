SELECT a FROM t WHERE sum(a) > 1
