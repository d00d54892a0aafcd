SELECT sum(a) FILTER (WHERE b > 1) / count(*) FILTER (WHERE b > 1) FROM t
