SELECT sum(x) FROM (SELECT rand() AS x FROM t)
