-- Functions that take functions, over arrays and maps.
CREATE OR REPLACE TEMPORARY VIEW nest AS VALUES
  (1, array(32, 97), array(array(12, 99), array(123, 42), array(1)), map('a', 1, 'b', 2)),
  (2, array(77, -76), array(array(6, 96, 65), array(-1, -2)), map('c', 3)),
  (3, array(12, NULL), array(array(17)), map()), (4, NULL, NULL, NULL), (5, array(), array(), map('d', NULL)) AS t(x, ys, zs, m);

SELECT x, transform(ys, y -> y * 2) AS v FROM nest;
SELECT x, transform(ys, (y, i) -> y + i) AS v FROM nest;
SELECT x, transform(zs, z -> concat(ys, z)) AS v FROM nest;
SELECT x, transform(ys, y -> x) AS v FROM nest;
SELECT transform(ys, 0) AS v FROM nest;
SELECT transform(CAST(NULL AS ARRAY<INT>), y -> y + 1) AS v FROM nest;
SELECT x, filter(ys, y -> y > 30) AS v FROM nest;
SELECT x, filter(ys, (y, i) -> i = 0) AS v FROM nest;
SELECT x, filter(ys, y -> y IS NULL) AS v FROM nest;
SELECT x, transform(zs, z -> filter(z, zz -> zz > 50)) AS v FROM nest;
SELECT x, aggregate(ys, 0, (acc, y) -> acc + y + x) AS v FROM nest;
SELECT x, reduce(ys, 1, (acc, y) -> acc * coalesce(y, 1)) AS v FROM nest;
SELECT x, aggregate(ys, (0 AS s, 0 AS n), (acc, y) -> (acc.s + y, acc.n + 1), acc -> acc.s / acc.n) AS v FROM nest WHERE size(ys) > 0;
SELECT x, transform(zs, z -> aggregate(z, 0, (acc, v) -> acc + v)) AS v FROM nest;
SELECT x, exists(ys, y -> y > 80) AS v FROM nest;
SELECT x, forall(ys, y -> y > 0) AS v FROM nest;
SELECT x FROM nest WHERE exists(zs, z -> size(z) > 2);
SELECT x, zip_with(ys, zs, (a, b) -> a + size(b)) AS v FROM nest;
SELECT x, zip_with(ys, array(1, 2, 3), (a, b) -> coalesce(a, b)) AS v FROM nest;
SELECT x, array_sort(ys, (l, r) -> CASE WHEN l < r THEN 1 WHEN l > r THEN -1 ELSE 0 END) AS v FROM nest WHERE x < 3;
SELECT x, map_filter(m, (k, v) -> v > 1) AS v FROM nest;
SELECT x, transform_values(m, (k, v) -> v * 10) AS v FROM nest;
SELECT x, transform_keys(m, (k, v) -> upper(k)) AS v FROM nest;
SELECT x, map_zip_with(m, map('a', 5), (k, v, w) -> coalesce(v, 0) + coalesce(w, 0)) AS v FROM nest;
SELECT x, transform(map_entries(m), e -> e.key || '=' || e.value) AS v FROM nest;
SELECT x, transform(map_keys(m), k -> m[k]) AS v FROM nest;
SELECT x, size(filter(ys, y -> y % 2 = 1)) AS odd FROM nest WHERE ys IS NOT NULL;
SELECT sum(aggregate(ys, 0, (a, y) -> a + coalesce(y, 0))) AS v FROM nest;
SELECT x, max(transform(ys, y -> -y)) AS v FROM nest GROUP BY x;
SELECT size(filter(ys, y -> y > 0)) AS n, count(*) FROM nest GROUP BY size(filter(ys, y -> y > 0));
SELECT filter(collect_list(x), e -> e > 1) AS v FROM (SELECT x FROM nest ORDER BY x);
SELECT aggregate(array_sort(collect_list(x)), 0, (a, e) -> a * 10 + e) AS v FROM nest;
SELECT x, v FROM nest LATERAL VIEW explode(transform(ys, y -> y + 1)) t AS v;
SELECT a.x, b.x AS bx FROM nest a JOIN nest b ON exists(a.ys, y -> array_contains(b.ys, y)) AND a.x <= b.x;
SELECT x, transform(sequence(1, x), i -> transform(sequence(1, i), j -> i * j)) AS tri FROM nest;
SELECT x, transform(split('a,b', ','), s -> s || x) AS v FROM nest;
SELECT x, filter(ys, y -> y IN (12, 32)) AS v FROM nest;
SELECT x, transform(ys, y -> CASE WHEN y > 50 THEN 'hi' WHEN y IS NULL THEN 'none' ELSE 'lo' END) AS v FROM nest;
SELECT x, transform(array(struct(x AS a, 'q' AS b)), s -> s.a + 1) AS v FROM nest;
SELECT x, array_max(transform(zs, z -> array_max(z))) AS v FROM nest;
