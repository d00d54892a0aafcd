SELECT a, (SELECT count(*) FROM l WHERE l.k = t.a HAVING count(*) > 1) AS n FROM t WHERE b IN (SELECT y FROM r)
