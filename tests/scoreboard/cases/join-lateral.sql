-- LATERAL: subqueries, table functions, inline tables.
CREATE TEMPORARY VIEW plots(p, soil) AS VALUES (0, 1), (1, 2), (2, NULL);
CREATE TEMPORARY VIEW crops(p, kg) AS VALUES (0, 2), (0, 3), (1, 5), (7, 1);
CREATE TEMPORARY VIEW bags(p, xs) AS VALUES (0, ARRAY(0, 1)), (1, ARRAY(2)), (2, ARRAY()), (NULL, ARRAY(4));
CREATE TEMPORARY VIEW seeds(p, kg) AS VALUES (0, 1), (0, 2), (1, 1), (1, 3);
CREATE TEMPORARY VIEW pairs(id, ps) AS VALUES
  (1, ARRAY(STRUCT(1, 'a'), STRUCT(2, 'b'))), (2, ARRAY()), (3, ARRAY(STRUCT(3, 'c')));
CREATE TEMPORARY VIEW notes(k, js) AS VALUES
  (1, '{"a": "1", "b": 2}'), (2, '{"a": 3, "c": "x"}'), (3, NULL), (4, 'no json');

SELECT * FROM plots, LATERAL (SELECT p + 1 AS next);
SELECT * FROM plots, LATERAL (SELECT kg FROM crops);
SELECT * FROM plots, LATERAL (SELECT plots.p FROM crops);
SELECT * FROM plots, LATERAL (SELECT plots.p * crops.kg AS m FROM crops);
SELECT * FROM plots, LATERAL (SELECT *);
SELECT * FROM plots, LATERAL (SELECT * FROM crops);
SELECT * FROM plots, LATERAL (SELECT plots.*);
SELECT * FROM plots, LATERAL (SELECT plots.*, c.* FROM crops c);
SELECT * FROM plots JOIN LATERAL (SELECT p + soil AS s) ON soil = s;
SELECT * FROM plots LEFT JOIN LATERAL (SELECT p + soil AS s) ON soil = s;
SELECT * FROM plots CROSS JOIN LATERAL (SELECT p - soil AS d);
SELECT * FROM plots NATURAL JOIN LATERAL (SELECT soil, soil + 1 AS more);
SELECT * FROM plots JOIN LATERAL (SELECT p, 'x' AS tag) USING (p);
SELECT * FROM LATERAL (SELECT * FROM plots);
SELECT * FROM LATERAL (SELECT * FROM plots) a, LATERAL (SELECT * FROM crops) b;
SELECT x, y FROM plots, LATERAL (SELECT p, soil) s(x, y);
SELECT * FROM (SELECT 1 AS a, 2 AS b), LATERAL (SELECT a, b);
SELECT * FROM plots, LATERAL (SELECT kg FROM crops WHERE plots.p = crops.p);
SELECT * FROM plots, LATERAL (SELECT kg FROM crops WHERE plots.soil < crops.kg);
SELECT * FROM plots, LATERAL (SELECT max(kg) AS m FROM crops WHERE plots.soil < crops.kg);
SELECT * FROM plots JOIN crops JOIN LATERAL (SELECT plots.soil + crops.kg AS t);
SELECT * FROM plots, LATERAL (SELECT p + soil AS a), LATERAL (SELECT p - soil AS b), LATERAL (SELECT a * b AS c);
SELECT plots.p, s.kg, o.soil FROM plots LEFT JOIN LATERAL (SELECT kg FROM crops WHERE plots.p = crops.p) s LEFT JOIN plots o ON s.kg = o.soil;
SELECT * FROM plots, LATERAL (SELECT * FROM crops, LATERAL (SELECT p AS inner_p));
SELECT * FROM plots, LATERAL (SELECT * FROM (SELECT p + 1 AS q), LATERAL (SELECT q * 2 AS r));
SELECT * FROM plots, LATERAL (SELECT * FROM (SELECT p AS q, min(kg) AS m FROM crops WHERE plots.p = crops.p GROUP BY p) s, LATERAL (SELECT m AS big WHERE m > q));
SELECT * FROM plots, LATERAL (SELECT soil + 1 AS s1, (SELECT min(kg) FROM crops) AS least);
SELECT * FROM plots, LATERAL (SELECT (SELECT sum(kg) FROM crops WHERE crops.p = a) AS s FROM (SELECT p AS a));
SELECT * FROM plots WHERE p = (SELECT min(a) FROM crops, LATERAL (SELECT crops.p AS a));
SELECT * FROM plots WHERE p = (SELECT min(a) FROM crops, LATERAL (SELECT crops.p AS a) WHERE crops.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT crops.kg AS c, seeds.kg AS s FROM crops JOIN seeds ON crops.p = seeds.p AND crops.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT crops.kg AS c, seeds.kg AS s FROM crops JOIN seeds ON crops.p <> seeds.p AND crops.p <> plots.p);
SELECT * FROM plots LEFT JOIN LATERAL (SELECT seeds.kg AS s, crops.kg AS c FROM seeds LEFT JOIN crops ON crops.p = seeds.p AND crops.p = plots.p);
SELECT * FROM plots, LATERAL (SELECT count(*) AS n FROM crops WHERE p = plots.p);
SELECT * FROM plots, LATERAL (SELECT count(*) AS n, sum(kg) AS s FROM crops WHERE p = plots.p);
SELECT * FROM plots, LATERAL (SELECT sum(kg) IS NULL AS none FROM crops WHERE plots.p = crops.p);
SELECT * FROM plots, LATERAL (SELECT count(*) + coalesce(sum(kg), 100) AS v FROM crops WHERE plots.p = crops.p);
SELECT * FROM plots, LATERAL (SELECT kg, count(*) AS n FROM crops WHERE plots.p = crops.p GROUP BY kg);
SELECT * FROM plots LEFT JOIN LATERAL (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p);
SELECT * FROM plots LEFT JOIN LATERAL (SELECT p AS q, count(*) AS n FROM crops WHERE plots.p = crops.p GROUP BY p);
SELECT * FROM plots JOIN LATERAL (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p) ON n - 1 = p;
SELECT * FROM plots, LATERAL (SELECT count(*) AS n FROM plots o WHERE plots.p = o.p HAVING n > 0);
SELECT * FROM plots, LATERAL (SELECT sum(n) AS s FROM (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p));
SELECT * FROM plots, LATERAL (SELECT count(n) AS c FROM (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p GROUP BY crops.p));
SELECT * FROM plots, LATERAL (SELECT count(*) AS c FROM (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p) JOIN seeds ON n = seeds.kg);
SELECT * FROM plots, LATERAL (SELECT * FROM (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p) WHERE n = soil + 1);
SELECT * FROM plots, LATERAL (SELECT l.n + r.n AS t FROM (SELECT count(*) AS n FROM crops WHERE plots.p = crops.p) l JOIN (SELECT count(*) AS n FROM seeds WHERE plots.p = seeds.p) r);
SELECT * FROM plots LEFT JOIN LATERAL (SELECT min(kg) AS m FROM crops WHERE p = plots.p GROUP BY p);
WITH a AS (SELECT p FROM plots), b AS (SELECT s.* FROM a, LATERAL (SELECT * FROM crops WHERE p = a.p) s) SELECT * FROM b;
SELECT * FROM bags JOIN LATERAL (SELECT explode(xs));
SELECT * FROM bags JOIN LATERAL (SELECT explode_outer(xs)) t(x) ON p = x OR x IS NULL;
SELECT * FROM bags LEFT JOIN LATERAL (SELECT explode(xs)) t(x) ON p = x;
SELECT * FROM plots JOIN LATERAL (SELECT sum(kg) OVER (ORDER BY kg) AS run FROM crops WHERE crops.p >= plots.p);

-- Set operations within.
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p UNION ALL SELECT kg FROM seeds WHERE seeds.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p UNION SELECT kg FROM seeds WHERE seeds.p > plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p INTERSECT SELECT kg FROM seeds WHERE seeds.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p EXCEPT SELECT kg FROM seeds WHERE seeds.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p EXCEPT ALL SELECT kg FROM seeds WHERE seeds.p = plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p INTERSECT ALL SELECT kg FROM seeds);
SELECT * FROM plots JOIN LATERAL (SELECT count(kg) AS c FROM crops WHERE crops.p = plots.p UNION SELECT count(kg) FROM seeds WHERE seeds.p > plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM crops WHERE crops.p = plots.p AND kg >= soil UNION ALL SELECT kg FROM seeds);
SELECT * FROM plots JOIN LATERAL (SELECT crops.p - plots.p AS d FROM crops GROUP BY crops.p - plots.p);
SELECT * FROM plots JOIN LATERAL (SELECT * FROM crops WHERE crops.p = plots.p) UNION ALL SELECT * FROM plots JOIN seeds;
SELECT * FROM plots JOIN LATERAL (SELECT sum(p) AS s FROM (SELECT * FROM crops WHERE crops.p <= plots.p) l LEFT SEMI JOIN (SELECT * FROM seeds) r ON l.p <=> r.p);

-- Table functions and inline tables.
SELECT * FROM LATERAL explode(ARRAY(1, 2));
SELECT * FROM plots, LATERAL range(3);
SELECT * FROM plots, LATERAL explode(ARRAY(p, soil)) t(v);
SELECT * FROM bags, LATERAL explode(xs) t(v);
SELECT * FROM bags, LATERAL explode_outer(xs) t(v);
SELECT * FROM explode(ARRAY(1, 2)) t(v), LATERAL (SELECT v + 1 AS w);
SELECT * FROM bags JOIN LATERAL explode(xs) t(v) ON bags.p = v;
SELECT * FROM bags LEFT JOIN LATERAL explode(xs) t(v) ON bags.p = v;
SELECT * FROM plots, LATERAL (SELECT * FROM explode(ARRAY(p, soil)));
SELECT * FROM plots, LATERAL (SELECT plots.p + v AS w FROM explode(ARRAY(p, soil)) t(v) WHERE plots.soil > 1);
SELECT * FROM plots, LATERAL inline(ARRAY(STRUCT(1, 'a'), STRUCT(2, 'b')));
SELECT p, t.* FROM plots, LATERAL inline(ARRAY(STRUCT(p, 'a'), STRUCT(soil, 'b'))) t(x, y);
SELECT * FROM pairs JOIN LATERAL inline(ps);
SELECT * FROM pairs LEFT JOIN LATERAL inline(ps) t(k, v) ON id = k;
SELECT * FROM pairs JOIN LATERAL inline_outer(ps) t(k, v);
SELECT * FROM plots, LATERAL posexplode(ARRAY(p, soil)) t(i, v);
SELECT * FROM bags LEFT JOIN LATERAL posexplode_outer(xs) t(i, v) ON bags.p = v;
SELECT n.k, t.* FROM notes n, LATERAL json_tuple(n.js, 'a', 'b', 'c') t;
SELECT n.k, t.* FROM notes n LEFT JOIN LATERAL json_tuple(n.js, 'a', 'b') t(a, b) ON n.k = t.a;
SELECT t.* FROM plots, LATERAL stack(2, 'p', p, 'soil', soil) t;
SELECT t.* FROM plots JOIN bags ON plots.p = bags.p JOIN LATERAL stack(1, plots.soil, bags.xs) t(a, b);
SELECT * FROM plots, LATERAL (VALUES (plots.p), (plots.soil)) AS s(v);
SELECT * FROM plots, LATERAL (VALUES (plots.p * 2, 'd')) AS s(v, tag);
SELECT * FROM plots LEFT JOIN LATERAL (VALUES (plots.p * 10)) AS s(v) ON v > 5;

-- ORDER BY and LIMIT within.
SELECT * FROM plots JOIN LATERAL (SELECT * FROM crops WHERE plots.p = crops.p ORDER BY kg LIMIT 1) c;
SELECT * FROM plots JOIN LATERAL (SELECT kg FROM seeds WHERE plots.p <= seeds.p ORDER BY kg DESC LIMIT 2);
SELECT * FROM plots JOIN LATERAL (SELECT min(kg) AS m FROM crops WHERE plots.p = crops.p GROUP BY crops.p ORDER BY m);
SELECT * FROM plots JOIN LATERAL ((SELECT kg FROM seeds WHERE plots.p = seeds.p ORDER BY kg LIMIT 1) UNION ALL (SELECT kg FROM crops WHERE plots.p = crops.p ORDER BY kg DESC LIMIT 1));
