SELECT interval, interval - a FROM (SELECT b AS interval, a FROM t)
