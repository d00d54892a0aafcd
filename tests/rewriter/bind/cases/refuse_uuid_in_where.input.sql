SELECT a FROM t WHERE b = uuid()
