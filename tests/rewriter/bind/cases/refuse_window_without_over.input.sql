SELECT rank() FROM t
