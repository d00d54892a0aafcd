SELECT a FROM t JOIN l ON x > (SELECT avg(y) FROM r)
