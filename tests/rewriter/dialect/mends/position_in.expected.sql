SELECT LOCATE('b', s), position('b', s), position('b', s, 2) FROM t
