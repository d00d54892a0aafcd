SELECT a FROM t WHERE a IN ((SELECT max(x) FROM l)) AND b IN (1, (SELECT min(x) FROM l))
