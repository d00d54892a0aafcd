SELECT struct(*), coalesce(*), struct(t.*, a AS z) FROM t
