SELECT a, upper(b) AS x FROM t
