WITH c AS (SELECT a, rand() AS r FROM t) SELECT x.a FROM c AS x JOIN c AS y ON x.r = y.r
