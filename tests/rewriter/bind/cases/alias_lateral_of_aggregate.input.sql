SELECT sum(b) AS s, s / count(*) AS mean FROM t
