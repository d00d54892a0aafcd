SELECT a FROM t WHERE (a IN (SELECT x FROM l)) = false OR NOT (a IN (SELECT x FROM l) OR b = 1)
