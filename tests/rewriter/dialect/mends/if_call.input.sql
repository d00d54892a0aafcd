SELECT IF(a > 1, 'x', 'y'), `if` FROM (SELECT *, 1 AS `if` FROM t)
