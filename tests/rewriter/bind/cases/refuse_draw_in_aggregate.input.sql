SELECT sum(rand()) FROM t
