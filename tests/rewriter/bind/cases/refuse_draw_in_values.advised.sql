SELECT rand() AS a FROM t
