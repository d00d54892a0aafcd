WITH RECURSIVE base AS (SELECT a, b FROM t WHERE b > 0),
c MAX RECURSION LEVEL 1 AS (SELECT a, b FROM base UNION ALL SELECT base.a, c.b FROM base, c WHERE base.b = c.a)
SELECT x.a FROM c AS x JOIN c AS y ON x.b = y.a
