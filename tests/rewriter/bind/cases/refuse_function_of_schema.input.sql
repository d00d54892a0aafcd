SELECT db.f(a) FROM t
