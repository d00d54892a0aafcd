-- Array functions and indexes.
CREATE TEMPORARY VIEW packs AS SELECT * FROM VALUES
  (1, array(11, 12, 13), array(array(1, 2), array(3)), array('p', 'q')), (2, array(21, 22, 21), array(array(4, 5)), array('q', NULL)),
  (3, array(5, NULL, 1), array(), array('z')), (4, NULL, NULL, array()) AS packs(id, b, c, s);
CREATE TEMPORARY VIEW prims AS SELECT * FROM VALUES (array(true), array(2Y, 1Y), array(2S, 1S), array(2L, 1L), array(1.5, 2.25), array(2.0D, 1.0D), array(DATE '2016-03-14', DATE '2016-03-13'), array(TIMESTAMP '2016-11-15 20:54:00'))
  AS prims(bo, ti, sm, bi, de, du, da, ts);

SELECT id, b[0], b[0] + b[1] FROM packs;
SELECT id, c[0][0] + c[0][0 + 1] AS v FROM packs WHERE id < 3;
SELECT * FROM prims;
SELECT array_contains(bo, true), array_contains(ti, 2Y), array_contains(sm, 0S), array_contains(bi, 1L), array_contains(de, 1.5), array_contains(du, 9.0D), array_contains(da, DATE '2016-03-14') FROM prims;
SELECT id, array_contains(b, 11), array_contains(c, array(4, 5)) FROM packs;
SELECT sort_array(ti), sort_array(de, false), sort_array(da), sort_array(du, true) FROM prims;
SELECT id, sort_array(b), sort_array(b, false), array_sort(b) FROM packs;
SELECT id, size(b), cardinality(c), array_size(s) FROM packs;
SELECT id, element_at(b, 1), element_at(b, -1), try_element_at(b, 9) FROM packs;
SELECT id, get(b, 0), get(b, 7), get(b, -1) FROM packs;
SELECT id, array_position(b, 21), array_position(s, 'q') FROM packs;
SELECT id, array_remove(b, 21), array_append(b, 99), array_prepend(b, 0), array_insert(b, 2, 7) FROM packs;
SELECT id, array_compact(b), array_distinct(b) FROM packs;
SELECT id, array_union(b, array(1, 11)), array_intersect(b, array(21, 5)), array_except(b, array(21)) FROM packs;
SELECT id, arrays_overlap(b, array(1, 2)), arrays_overlap(s, array('q')) FROM packs;
SELECT id, array_min(b), array_max(b), array_join(s, '-'), array_join(s, '-', '?') FROM packs;
SELECT id, flatten(c), reverse(b), slice(b, 1, 2), slice(b, -1, 1) FROM packs;
SELECT id, concat(b, array(0)), arrays_zip(b, s) FROM packs;
SELECT id, array_repeat(id, 2), sequence(id, 4), shuffle(array(id)) FROM packs;
SELECT id, sequence(id, id + 6, 3), sequence(3, id) FROM packs;
SELECT elt(1, 'x', 'y'), elt(2, 'x', CAST(id AS STRING)) FROM packs;
SELECT id, map_from_arrays(array('k'), array(id)), map_from_entries(arrays_zip(array('a'), array(id))) FROM packs;
SELECT explode(b) AS e FROM packs;
SELECT id, e FROM packs LATERAL VIEW explode(b) t AS e WHERE e > 12;
SELECT id, i, e FROM packs LATERAL VIEW OUTER posexplode(b) t AS i, e;
SELECT e, count(*) FROM packs LATERAL VIEW explode(s) t AS e GROUP BY e;
SELECT id, x FROM packs LATERAL VIEW explode(c) t AS row LATERAL VIEW explode(row) u AS x;
SELECT array_agg(id) AS a FROM (SELECT id FROM packs ORDER BY id);
SELECT b FROM packs ORDER BY b;
SELECT b, count(*) FROM packs GROUP BY b;
SELECT max(b), min(c) FROM packs;
SELECT id FROM packs WHERE b > array(12);
SELECT id FROM packs WHERE b = array(11, 12, 13) OR s <=> array();
SELECT p.id, q.id AS qid FROM packs p JOIN packs q ON p.b = q.b;
SELECT id, b[id] AS v FROM packs WHERE id < 3;
SELECT id, array(id, NULL, 2.5) AS a, array(array(id)) AS aa FROM packs;
SELECT DISTINCT s FROM packs;
SELECT id, size(CAST(NULL AS ARRAY<INT>)) AS n FROM packs;
SELECT array_sort(collect_set(e)) FROM (SELECT explode(b) AS e FROM packs);
SELECT id, CAST(b AS ARRAY<STRING>) AS t, CAST(s AS STRING) AS u FROM packs;
SELECT id, array_contains(s, NULL) IS NULL AS n FROM packs WHERE false;
SELECT id, struct(b AS arr).arr[1] AS v FROM packs;
SELECT id FROM packs WHERE 11 IN (b[0], b[1]);
SELECT id, exists(b, e -> e IS NULL) AS hole FROM packs;
SELECT element_at(array_sort(array_agg(b[0])), 1) AS v FROM packs WHERE b IS NOT NULL;
SET spark.sql.ansi.enabled=false;
SELECT id, b[5], element_at(b, 5) FROM packs;
SET spark.sql.ansi.enabled=true;
