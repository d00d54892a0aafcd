SELECT a IN (SELECT x FROM l) = (1 = 0) AS i FROM t
