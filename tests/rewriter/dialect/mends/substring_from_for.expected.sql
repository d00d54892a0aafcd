SELECT substring(s, 2, 3), substring(s, 2), substr(s, 2) FROM t
