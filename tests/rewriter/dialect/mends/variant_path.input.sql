SELECT js:a.b, js:a[0], js:['x y'], js:a.b::INT FROM (SELECT parse_json(js) AS js FROM t)
