SELECT a, localtimestamp() FROM t
