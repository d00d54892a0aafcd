SELECT a FROM t WHERE explode(array(a)) = 1
