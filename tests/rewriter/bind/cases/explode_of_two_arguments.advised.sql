SELECT a, e FROM t LATERAL VIEW explode(array(b)) u AS e
