WITH c AS (SELECT a FROM t WHERE b > 1) SELECT x.a, y.a FROM c AS x JOIN c AS y ON x.a = y.a
