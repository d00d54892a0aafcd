SELECT a AS (x, y) FROM t
