SELECT count(*), sum(a) + count(*) FROM t WHERE b > 1
