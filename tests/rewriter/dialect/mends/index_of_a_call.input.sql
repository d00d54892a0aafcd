SELECT array(1, 2)[0], split(s, ',')[0] FROM t
