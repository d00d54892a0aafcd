SELECT t.a FROM (SELECT a, rand() AS d FROM t) t JOIN l ON a = x AND d < 0.5
