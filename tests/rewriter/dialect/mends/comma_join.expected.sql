SELECT * FROM t, u JOIN v ON u.c = v.c, w
