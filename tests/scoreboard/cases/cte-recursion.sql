-- WITH RECURSIVE.
CREATE TEMPORARY VIEW steps AS SELECT * FROM VALUES 0, 1, 2 AS steps(i);
CREATE TEMPORARY VIEW ferries(a, b, fee) AS VALUES
  ('oslo', 'kiel', 5), ('kiel', 'riga', 3), ('riga', 'oslo', 9), ('kiel', 'bergen', 2), ('bergen', 'faroe', 4);
CREATE TEMPORARY VIEW parts(whole, part, n) AS VALUES
  ('bike', 'wheel', 2), ('bike', 'frame', 1), ('wheel', 'spoke', 32), ('wheel', 'rim', 1), ('frame', 'tube', 3);
CREATE TEMPORARY VIEW staff(id, boss, pay) AS VALUES (1, NULL, 90), (2, 1, 70), (3, 1, 60), (4, 2, 40), (5, 4, 30);

WITH RECURSIVE r(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM r WHERE n < 6) SELECT * FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM r WHERE n < 50) SELECT sum(n) FROM r;
WITH RECURSIVE r AS (SELECT i, i AS top FROM steps UNION ALL SELECT i, top + 1 FROM r WHERE top < 3) SELECT * FROM r;
WITH RECURSIVE r(s) AS (SELECT 'a' UNION ALL SELECT s || 'b' FROM r WHERE length(s) < 5) SELECT * FROM r;
WITH RECURSIVE r(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 4;
WITH RECURSIVE r(lo, hi) AS (SELECT max(fee), sum(fee) FROM ferries UNION ALL SELECT lo - 1, hi FROM r WHERE lo > 6) SELECT * FROM r ORDER BY lo;
WITH RECURSIVE r(n, tag) AS (VALUES (0, 'z') UNION ALL SELECT n + 1, tag FROM r WHERE n < 4) SELECT tag, count(*) FROM r GROUP BY tag;
WITH RECURSIVE r(n) AS (VALUES (0) UNION ALL SELECT DISTINCT n + 1 FROM r WHERE n < 4) SELECT * FROM r;
WITH RECURSIVE y AS (VALUES (1) AS t(id)), x AS (SELECT * FROM y UNION ALL SELECT id + 1 FROM x WHERE id < 4) SELECT * FROM x;
WITH RECURSIVE x AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM x WHERE id < 3), y AS (SELECT 2 AS id UNION ALL SELECT id + 2 FROM y WHERE id < 6) SELECT y.id, x.id AS xid FROM y LEFT JOIN x ON x.id = y.id;
WITH RECURSIVE x AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM x WHERE id < 3), z AS (SELECT * FROM x UNION ALL SELECT id + 1 FROM z WHERE id < 5) SELECT id, count(*) FROM z GROUP BY id;
WITH t AS (WITH RECURSIVE s AS (VALUES (1) AS t(i) UNION ALL SELECT i + 1 FROM s WHERE i < 4) SELECT i AS j FROM s) SELECT * FROM t;
WITH RECURSIVE o AS (SELECT 0 AS n UNION ALL (WITH inn AS (SELECT * FROM o) SELECT n + 1 FROM inn WHERE n < 3)) SELECT * FROM o;
WITH RECURSIVE reach AS (SELECT 'oslo' AS town, 0 AS cost UNION ALL SELECT f.b, r.cost + f.fee FROM ferries f JOIN reach r ON r.town = f.a WHERE r.cost < 15) SELECT * FROM reach;
WITH RECURSIVE reach AS (SELECT 'oslo' AS town, ARRAY('oslo') AS path UNION ALL SELECT f.b, concat(r.path, ARRAY(f.b)) FROM ferries f JOIN reach r ON r.town = f.a AND NOT array_contains(r.path, f.b)) SELECT * FROM reach;
WITH RECURSIVE need(part, n) AS (SELECT part, n FROM parts WHERE whole = 'bike' UNION ALL SELECT p.part, p.n * need.n FROM parts p JOIN need ON p.whole = need.part) SELECT part, sum(n) AS total FROM need GROUP BY part;
WITH RECURSIVE need(part, n, depth) AS (SELECT part, n, 1 FROM parts WHERE whole = 'bike' UNION ALL SELECT p.part, p.n * need.n, depth + 1 FROM parts p JOIN need ON p.whole = need.part) SELECT max(depth) FROM need;
WITH RECURSIVE chain(id, top, level) AS (SELECT id, id, 0 FROM staff WHERE boss IS NULL UNION ALL SELECT s.id, c.top, c.level + 1 FROM staff s JOIN chain c ON s.boss = c.id) SELECT * FROM chain ORDER BY id;
WITH RECURSIVE chain AS (SELECT id, boss, pay FROM staff WHERE id = 5 UNION ALL SELECT s.id, s.boss, s.pay FROM staff s, chain c WHERE s.id = c.boss) SELECT sum(pay) AS of_chain FROM chain;
WITH RECURSIVE f AS (VALUES (0, 1) AS t(a, b) UNION ALL SELECT b, a + b FROM f WHERE a < 20) SELECT a FROM f ORDER BY a;
WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT s.id, r.n FROM staff s JOIN r ON s.id = r.n WHERE s.pay > 50;
WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT id FROM staff WHERE id IN (SELECT n FROM r WHERE n % 2 = 1);
WITH RECURSIVE r(n) AS (SELECT min(id) FROM staff UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r;
WITH RECURSIVE r(n, f) AS (SELECT 1, 1L UNION ALL SELECT n + 1, f * (n + 1) FROM r WHERE n < 10) SELECT f FROM r WHERE n = 10;
WITH RECURSIVE r MAX RECURSION LEVEL 20 AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 12) SELECT max(n) FROM r;
WITH RECURSIVE days(d) AS (SELECT DATE '2024-02-27' UNION ALL SELECT d + 1 FROM days WHERE d < DATE '2024-03-02') SELECT d, dayofweek(d) FROM days;
WITH RECURSIVE r AS (SELECT i FROM steps WHERE i = 0 UNION ALL SELECT s.i FROM steps s JOIN r ON s.i = r.i + 1) SELECT a.i, b.i AS j FROM r a JOIN r b ON a.i < b.i;
WITH RECURSIVE r AS (SELECT i FROM steps WHERE i = 0 UNION ALL SELECT r.i + 1 FROM r LEFT JOIN steps s ON s.i = r.i WHERE r.i < 4) SELECT * FROM r;
SELECT (WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT sum(n) FROM r) AS s FROM steps;
WITH RECURSIVE r(word, rest) AS (SELECT '', 'a,b,c' UNION ALL SELECT substring_index(rest, ',', 1), substr(rest, length(substring_index(rest, ',', 1)) + 2) FROM r WHERE rest <> '') SELECT word FROM r WHERE word <> '';
WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r UNION ALL SELECT i FROM steps;
WITH RECURSIVE anc(a, b) AS (SELECT boss, id FROM staff WHERE boss IS NOT NULL UNION ALL SELECT anc.a, s.id FROM anc JOIN staff s ON s.boss = anc.b) SELECT a, count(*) AS below FROM anc GROUP BY a;
