-- JSON, CSV, XML and VARIANT.
CREATE TEMPORARY VIEW docs AS SELECT * FROM VALUES
  (1, '{"a": 1, "b": {"c": "x"}, "l": [1, 2, 3]}', '1,one', '<p><n>1</n></p>'), (2, '{"a": null, "b": {}, "l": []}', '2,', '<p/>'),
  (3, 'broken', NULL, NULL), (4, NULL, '4,"q,r"', '<p><n>4</n><n>5</n></p>'), (5, '[{"k": 1}, {"k": 2}]', 'x,y', '') AS docs(id, js, cs, xm);

SELECT id, get_json_object(js, '$.a'), get_json_object(js, '$.b.c'), get_json_object(js, '$.l[1]'), get_json_object(js, '$[0].k') FROM docs;
SELECT id, from_json(js, 'a INT, b STRUCT<c: STRING>') AS s FROM docs;
SELECT id, from_json(js, 'a INT, l ARRAY<INT>').l AS l FROM docs;
SELECT id, from_json(js, 'a INT, b STRUCT<c: STRING>').b.c AS c FROM docs WHERE id < 3;
SELECT id, from_json(js, 'ARRAY<STRUCT<k: INT>>') AS l FROM docs;
SELECT id, from_json(js, 'MAP<STRING, STRING>')['a'] AS a FROM docs;
SELECT id, from_json(cs, 'a INT', map('mode', 'PERMISSIVE')) AS s FROM docs;
SELECT id, json_array_length(js), json_object_keys(js) FROM docs;
SELECT id, to_json(named_struct('id', id, 'c', cs)), to_json(map('k', id)), to_json(array(id, NULL)) FROM docs;
SELECT id, to_json(named_struct('d', DATE '2024-01-02'), map('dateFormat', 'dd/MM/yyyy')) AS j FROM docs;
SELECT schema_of_json('{"a": 1, "b": [true]}') AS s FROM docs WHERE id = 1;
SELECT id, k, v FROM docs LATERAL VIEW json_tuple(js, 'a', 'l') t AS k, v;
SELECT json_tuple(js, 'a') FROM docs;
SELECT id, from_csv(cs, 'n INT, t STRING') AS c FROM docs WHERE id <> 5;
SELECT id, from_csv(cs, 'n INT, t STRING').t AS t FROM docs WHERE id < 5;
SELECT id, to_csv(named_struct('n', id, 't', cs)) AS c FROM docs;
SELECT schema_of_csv('1,abc') AS s FROM docs LIMIT 1;
SELECT id, xpath(xm, 'p/n/text()'), xpath_int(xm, 'sum(p/n)'), xpath_string(xm, 'p/n'), xpath_boolean(xm, 'p/n') FROM docs WHERE id IN (1, 4);
SELECT id, from_xml(xm, 'n ARRAY<INT>') AS x FROM docs WHERE id < 3;
SELECT id, to_xml(named_struct('n', id)) AS x FROM docs WHERE id = 1;
SELECT get_json_object(js, '$.a') AS a, count(*) FROM docs GROUP BY get_json_object(js, '$.a');
SELECT max(from_json(js, 'a INT').a) AS m FROM docs;
SELECT id FROM docs WHERE get_json_object(js, '$.b.c') = 'x';
SELECT d.id, e.n FROM docs d, LATERAL (SELECT explode(from_json(d.js, 'l ARRAY<INT>').l) AS n) e;
SELECT id, n FROM docs LATERAL VIEW explode(from_json(js, 'l ARRAY<INT>').l) t AS n WHERE n > 1;
SELECT to_json(collect_list(named_struct('i', id))) AS j FROM (SELECT id FROM docs ORDER BY id);
SELECT id, CAST(variant_get(parse_json(js), '$.a') AS STRING) AS a FROM docs WHERE id IN (1, 2);
SELECT id, variant_get(parse_json(js), '$.b.c', 'string') AS c FROM docs WHERE id IN (1, 2);
SELECT id, try_parse_json(js) IS NULL AS bad FROM docs;
SELECT id, to_json(parse_json('{"z": [1, 2]}')) AS j, schema_of_variant(parse_json('[1]')) AS s FROM docs WHERE id = 1;
SELECT id, parse_json(js):a::INT AS a, parse_json(js):l[0]::INT AS l FROM docs WHERE id = 1;
SELECT id, is_variant_null(parse_json('null')) AS n, try_variant_get(parse_json(js), '$.a', 'int') AS t FROM docs WHERE id < 3;
SELECT id, t.key, t.value::STRING AS v FROM docs, LATERAL variant_explode(parse_json('{"p": 1, "q": "w"}')) t WHERE id = 1;
SELECT id, to_json(to_variant_object(named_struct('i', id))) AS v FROM docs;
SELECT schema_of_variant_agg(parse_json(js)) AS s FROM docs WHERE id < 3;
