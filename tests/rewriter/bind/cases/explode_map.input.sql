SELECT a, key, value FROM t LATERAL VIEW explode(map('x', a, 'y', b)) m
