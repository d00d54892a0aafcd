-- Maps and structs.
CREATE TEMPORARY VIEW recs AS SELECT * FROM VALUES
  (1, map('a', 1, 'b', 2), named_struct('x', 1, 'y', named_struct('z', 'q')), array(named_struct('k', 1, 'v', 'one'), named_struct('k', 2, 'v', 'two'))),
  (2, map('b', NULL), named_struct('x', 5, 'y', NULL), array(named_struct('k', 2, 'v', NULL))), (3, map(), NULL, array()), (4, NULL, named_struct('x', NULL, 'y', named_struct('z', 'r')), NULL)
  AS recs(id, m, s, l);

SELECT id, m['a'], m['zz'], element_at(m, 'b'), try_element_at(m, 'c') FROM recs;
SELECT id, map_keys(m), map_values(m), map_entries(m), size(m), cardinality(m) FROM recs;
SELECT id, map_contains_key(m, 'a'), map_concat(m, map('z', 9)) FROM recs;
SELECT id, map('k', id, 'l', id + 1) AS mm, map_from_arrays(array('p', 'q'), array(id, 0)) AS ma FROM recs;
SELECT id, map_from_entries(transform(l, e -> struct(e.k, e.v))) AS me, str_to_map('x:1,y:2') AS sm FROM recs;
SELECT id, k, v FROM recs LATERAL VIEW explode(m) t AS k, v;
SELECT id, k, v FROM recs LATERAL VIEW OUTER explode(m) t AS k, v;
SELECT k, sum(v) FROM recs LATERAL VIEW explode(m) t AS k, v GROUP BY k;
SELECT explode(m) FROM recs;
SELECT explode(m) AS (kk, vv) FROM recs;
SELECT id, s.x, s.y, s.y.z FROM recs;
SELECT id, s.* FROM recs;
SELECT recs.s.x + 1 AS v, recs.s.y.z AS z FROM recs;
SELECT id FROM recs WHERE s.x > 2 OR s.y.z = 'q';
SELECT s.y.z AS z, count(*) FROM recs GROUP BY s.y.z;
SELECT s, count(*) FROM recs GROUP BY s;
SELECT m, count(*) FROM recs GROUP BY m;
SELECT id, l.k, l.v, l[0].v, l[0].k FROM recs WHERE id = 1;
SELECT id, inline(l) FROM recs;
SELECT id, c.k, c.v FROM recs LATERAL VIEW inline(l) c AS k, v;
SELECT id, e.k AS k FROM recs LATERAL VIEW explode(l) t AS e;
SELECT struct(id, m['a'] AS a) AS st FROM recs;
SELECT named_struct('id', id, 'n', size(m)).n AS n FROM recs;
SELECT (id, 'lit') AS pair, (id, 'lit').col1 AS c FROM recs;
SELECT max(s) AS mx, min(struct(id, s.x)) AS mn FROM recs;
SELECT id FROM recs ORDER BY s, id;
SELECT a.id, b.id AS bid FROM recs a JOIN recs b ON a.s = b.s;
SELECT id, s = named_struct('x', 5, 'y', CAST(NULL AS STRUCT<z: STRING>)) AS eq FROM recs;
SELECT id, s IS NULL, m IS NOT NULL, s.y IS NULL FROM recs;
SELECT collect_list(named_struct('i', id, 'x', s.x)) AS all FROM (SELECT * FROM recs ORDER BY id);
SELECT map_from_entries(collect_list(struct(id, s.x))) AS byid FROM recs;
SELECT id, transform_values(m, (k, v) -> concat(k, v)) AS t FROM recs;
SELECT id, CAST(s AS STRUCT<p: BIGINT, q: STRUCT<r: STRING>>).p AS p FROM recs;
SELECT id, to_json(s), to_json(m), to_json(l) FROM recs;
SELECT id, array(s, NULL)[0].x AS x FROM recs;
SELECT id, coalesce(m, map('none', 0)) AS c, if(s IS NULL, named_struct('x', 0, 'y', NULL), s) AS d FROM recs;
SELECT DISTINCT s.x AS x FROM recs;
SELECT count(DISTINCT s), count(DISTINCT m['b']) FROM recs;
SELECT x, y FROM (SELECT s.* FROM recs WHERE s IS NOT NULL) WHERE x IS NOT NULL;
SELECT id, map_filter(m, (k, v) -> v IS NOT NULL) AS f FROM recs;
SELECT id, first_value(s.x) OVER (ORDER BY id) AS f, sum(s.x) OVER (PARTITION BY size(m) ORDER BY id) AS r FROM recs;
SELECT id, exists(map_values(m), v -> v > 1) AS any FROM recs;
SELECT r.id, t.k FROM recs r, LATERAL explode(r.m) t(k, v) WHERE t.v = 2;
SELECT id, named_struct('a', 1, 'a', 2) AS twice FROM recs WHERE id = 1;
SELECT id, s.X, S.y.Z FROM recs;
