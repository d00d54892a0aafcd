SELECT t.a FROM t JOIN l ON a = x AND rand() < 0.5
