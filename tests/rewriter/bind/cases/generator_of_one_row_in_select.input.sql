SELECT a, json_tuple(b, 'x', 'y') AS (x, y) FROM t
