SELECT a FROM t WHERE a IN (SELECT e FROM (SELECT collect_list(b) AS bs FROM t AS u GROUP BY u.a) LATERAL VIEW explode(bs) v AS e)
