SELECT js:a.b, js:a[0], js:['x y'], js:a.b::INT FROM t
