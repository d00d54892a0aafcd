SELECT my_function(a) FROM t
