SELECT js:a.b, js:a[0], js:['x y'], CAST(js:a.b AS INT) FROM (SELECT parse_json(js) AS js FROM t)
