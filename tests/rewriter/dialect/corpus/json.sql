select get_json_object(js, '$.a'), get_json_object(js, '$.a[0].b'), get_json_object(js, '$["x y"]'), get_json_object(js, s), get_json_object(js, '$.a[*].b') from t
---
select from_json(js, 'a INT, b STRING'), from_json(js, 'struct<a: int>'), from_json(js, 'a INT', map('mode', 'FAILFAST')), from_json(js, schema_of_json('{"a": 1}')), to_json(st), to_json(m, map('pretty', 'true')) from t
---
select json_array_length(js), json_object_keys(js), schema_of_json('{"a":[1]}'), from_json(js, 'a INT').a from t
---
select js:a from (select parse_json(js) as js from t)
---
select js:a.b, js:a[0], js:['x y'], js:a.b::int, js:a::string as v from (select parse_json(js) as js from t)
---
select parse_json(js), try_parse_json(js), variant_get(parse_json(js), '$.a', 'int'), try_variant_get(parse_json(js), '$.a', 'int'), is_variant_null(parse_json(js)), schema_of_variant(parse_json(js)), to_variant_object(st) from t
---
select from_csv(s, 'a INT'), to_csv(st), schema_of_csv('1,a'), from_csv(s, 'a DATE', map('dateFormat', 'dd/MM/yyyy')) from t
---
select xpath(s, '/a/b'), xpath_string(s, '/a'), xpath_int(s, '/a'), from_xml(s, 'a INT'), to_xml(st) from t
---
select schema_of_variant_agg(parse_json(js)) from t
