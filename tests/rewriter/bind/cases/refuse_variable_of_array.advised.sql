SELECT a FROM t WHERE array_contains(array(1), a)
