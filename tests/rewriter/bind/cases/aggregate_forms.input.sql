SELECT count(a, b), count(DISTINCT a, b), sum(DISTINCT a), mean(b), avg(b), count(DISTINCT *) FROM t
