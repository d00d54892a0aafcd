SELECT * EXCEPT (a), count_ FROM (SELECT *, 1 AS count_ FROM t)
