-- Queries in pipes.
CREATE TABLE crew(no INT, nick STRING) USING parquet;
INSERT INTO crew VALUES (0, 'ada'), (1, 'benno'), (2, 'chi');
INSERT INTO crew SELECT 3, 'dov';
CREATE TABLE shift(member INT, hours INT) USING parquet;
INSERT INTO shift VALUES (0, 5), (0, 7), (1, 4), (2, 9), (2, NULL), (9, 1);
CREATE TABLE boxes(no INT, size STRUCT<w: INT, h: INT>) USING parquet;
INSERT INTO boxes VALUES (1, named_struct('w', 2, 'h', 3)), (2, named_struct('w', 4, 'h', NULL));
CREATE TEMPORARY VIEW fares AS SELECT * FROM VALUES
  ('bus', 2020, 10), ('tram', 2020, 20), ('bus', 2020, 5), ('bus', 2021, 48), ('tram', 2021, NULL)
  AS fares(line, yr, fare);
CREATE TEMPORARY VIEW wide AS SELECT * FROM VALUES
  ('bus', 15, 48, NULL), ('tram', 20, 30, 7) AS wide(line, `2020`, `2021`, `2022`);
CREATE TEMPORARY VIEW wider AS SELECT * FROM VALUES
  ('bus', 15, 1, 48, NULL), ('tram', NULL, NULL, 30, 2) AS wider(line, f20, n20, f21, n21);
CREATE TEMPORARY VIEW lists AS SELECT * FROM VALUES (1, array(4, 5)), (2, array()), (3, NULL) AS lists(k, xs);

-- SELECT, EXTEND, SET, DROP, AS.
TABLE crew |> SELECT 1 AS one;
TABLE crew |> SELECT no, upper(nick) AS big;
FROM crew |> SELECT no + 1 AS n |> SELECT n * n AS square;
VALUES (3), (4) AS t(v) |> SELECT v * 2 AS twice;
(SELECT * FROM crew UNION ALL SELECT * FROM crew) |> SELECT no + length(nick) AS mix;
(TABLE crew |> SELECT no, nick |> SELECT no) UNION ALL SELECT member FROM shift WHERE hours < 5;
TABLE boxes |> SELECT size.w, boxes.size.h;
TABLE crew |> SELECT (SELECT max(hours) FROM shift WHERE member = no) AS most;
SELECT (VALUES (4) AS t(c) |> SELECT c) AS four;
TABLE crew |> SELECT no + 1 AS a, a * 10 AS b;
TABLE shift |> SELECT member, sum(hours) OVER (PARTITION BY member) AS total;
TABLE shift |> SELECT count(*) OVER () AS c, member |> SELECT c;
TABLE shift |> SELECT DISTINCT member;
TABLE crew |> SELECT *;
TABLE crew |> SELECT * EXCEPT (nick);
TABLE crew |> SELECT /*+ COALESCE(1) */ *;
TABLE crew |> EXTEND no * 2 AS double_no;
TABLE crew |> EXTEND no + 1 AS x, length(nick) AS y |> WHERE x < y;
TABLE crew |> EXTEND no AS n2 |> EXTEND n2 + no AS n3 |> SELECT n3;
TABLE crew |> SET nick = upper(nick);
TABLE crew |> SET no = no + 1, nick = nick || no;
TABLE boxes |> SET size = size.w |> WHERE size > 2;
TABLE crew |> DROP nick;
TABLE fares |> DROP fare, yr |> SELECT DISTINCT line;
TABLE crew |> AS c |> SELECT c.no;
TABLE crew |> AS a |> JOIN shift AS s ON a.no = s.member |> SELECT a.nick, s.hours;

-- WHERE.
TABLE crew |> WHERE true;
TABLE crew |> WHERE no + length(nick) < 5 |> WHERE no < 1;
FROM crew |> WHERE crew.no = 1;
(SELECT member, sum(hours) AS s FROM shift GROUP BY member) |> WHERE s > 8;
TABLE boxes |> WHERE size.h IS NULL;
TABLE crew |> WHERE EXISTS (SELECT 1 FROM shift WHERE member = no);
TABLE crew |> WHERE no NOT IN (SELECT member FROM shift);
TABLE crew |> WHERE (SELECT count(*) FROM shift WHERE member = no) = 2;

-- PIVOT, UNPIVOT.
TABLE fares |> SELECT yr, line, fare |> PIVOT (sum(fare) FOR line IN ('bus', 'tram'));
TABLE fares |> PIVOT (sum(fare) AS s, count(*) AS c FOR yr IN (2020 AS y0, 2021 AS y1));
TABLE fares |> PIVOT (max(fare) FOR (yr, line) IN ((2020, 'bus'), (2021, 'tram')));
TABLE wide |> UNPIVOT (fare FOR yr IN (`2020`, `2021`, `2022`));
TABLE wide |> UNPIVOT INCLUDE NULLS (fare FOR yr IN (`2020`, `2021`, `2022`));
TABLE wider |> UNPIVOT EXCLUDE NULLS ((fare, n) FOR yr IN ((f20, n20) AS `20`, (f21, n21) AS `21`));

-- TABLESAMPLE of all.
TABLE crew |> TABLESAMPLE (100 PERCENT) REPEATABLE (1);
TABLE crew |> TABLESAMPLE (50 ROWS);
TABLE crew |> TABLESAMPLE (BUCKET 1 OUT OF 1) |> TABLESAMPLE (100 PERCENT);

-- JOIN.
TABLE crew |> INNER JOIN shift ON no = member;
TABLE crew |> LEFT OUTER JOIN shift ON no = member |> SELECT nick, hours;
TABLE crew |> RIGHT JOIN shift ON no = member |> SELECT nick, member;
TABLE crew |> FULL OUTER JOIN (SELECT member AS no, hours FROM shift) USING (no);
TABLE crew |> LEFT SEMI JOIN shift ON no = member;
TABLE crew |> LEFT ANTI JOIN shift ON no = member;
TABLE crew |> CROSS JOIN (SELECT 1 AS one);
TABLE crew |> JOIN crew USING (no);
TABLE crew |> NATURAL JOIN (SELECT 1 AS no, 'x' AS z);
TABLE crew |> JOIN LATERAL (SELECT no + 1 AS next);
TABLE crew |> JOIN LATERAL (SELECT sum(hours) AS h FROM shift WHERE member = no);
TABLE lists |> JOIN LATERAL explode(xs) AS t(x);
TABLE crew |> JOIN shift TABLESAMPLE (100 PERCENT) s ON s.member = no |> SELECT no, hours;

-- Sets, order, limits.
TABLE crew |> UNION ALL TABLE crew;
TABLE crew |> SELECT no |> UNION (SELECT member FROM shift);
VALUES (0, 'ada') AS t(no, nick) |> UNION ALL TABLE crew;
TABLE shift |> SELECT member |> EXCEPT ALL (SELECT no FROM crew);
TABLE shift |> SELECT member |> EXCEPT (SELECT no FROM crew);
TABLE shift |> SELECT member |> INTERSECT ALL (SELECT no FROM crew);
TABLE shift |> SELECT member |> INTERSECT DISTINCT (SELECT no FROM crew);
TABLE crew |> SELECT no |> MINUS (SELECT member FROM shift);
TABLE crew |> ORDER BY nick DESC;
TABLE crew |> ORDER BY no |> LIMIT 2;
TABLE crew |> ORDER BY no DESC |> LIMIT 2 OFFSET 1;
TABLE crew |> ORDER BY no |> OFFSET 2;
TABLE crew |> LIMIT ALL OFFSET 0;
TABLE crew |> DISTRIBUTE BY no;
TABLE crew |> SORT BY no;
TABLE crew |> CLUSTER BY no;
TABLE crew |> WHERE no > 0 ORDER BY no;

-- WINDOW, AGGREGATE.
TABLE fares |> WINDOW w AS (PARTITION BY line ORDER BY yr, fare) |> SELECT line, sum(fare) OVER w;
TABLE shift |> AGGREGATE sum(hours) AS total GROUP BY member;
TABLE shift |> AGGREGATE sum(hours) AS total GROUP BY member |> WHERE total > 4 |> SELECT total;
TABLE shift |> AGGREGATE count(*) GROUP BY member + 1 AS next |> SELECT next;
TABLE shift |> AGGREGATE GROUP BY member, hours IS NULL AS unknown;
TABLE fares |> AGGREGATE GROUP BY 1, 2;
TABLE crew |> AGGREGATE count(*);
TABLE crew |> AGGREGATE max(no) + 1 AS next_no, min(nick) AS first_nick;
TABLE fares |> AGGREGATE sum(fare) f GROUP BY line, yr |> AGGREGATE avg(f) f GROUP BY line |> AGGREGATE max(f);
TABLE shift |> AGGREGATE member + count(hours) AS mix GROUP BY member;
TABLE fares |> AGGREGATE count(DISTINCT yr) AS years GROUP BY line |> ORDER BY line;
TABLE fares |> WHERE fare > 100 |> AGGREGATE sum(fare) AS s;
WITH big AS (TABLE shift |> WHERE hours > 4) FROM big |> AGGREGATE count(*) AS c;
SELECT * FROM (TABLE crew |> WHERE no > 1) AS late JOIN shift ON late.no = shift.member;
SELECT nick FROM crew WHERE no IN (FROM shift |> WHERE hours > 6 |> SELECT member);

-- In subqueries that refer to the query around them.
SELECT * FROM crew WHERE EXISTS (FROM shift |> WHERE shift.member = crew.no);
SELECT nick, (FROM shift |> WHERE shift.member = crew.no |> AGGREGATE sum(hours) AS s) AS s FROM crew;
SELECT * FROM crew JOIN LATERAL (FROM shift |> WHERE shift.member = crew.no |> AGGREGATE count(*) AS n GROUP BY hours);
SELECT * FROM crew JOIN LATERAL (SELECT * FROM (FROM shift |> WHERE shift.member = crew.no |> SELECT hours) h JOIN boxes ON boxes.no < h.hours);
SELECT nick FROM crew WHERE no NOT IN (FROM shift |> WHERE shift.hours > crew.no + 5 |> DROP hours);
SELECT nick FROM crew WHERE no IN (FROM shift |> WHERE shift.member = crew.no |> SELECT member |> EXCEPT ALL (FROM boxes |> SELECT no));
FROM crew |> JOIN LATERAL (FROM shift |> WHERE shift.member = crew.no |> JOIN boxes ON boxes.no = shift.member |> SELECT boxes.size.w AS w, hours) |> WHERE w > 2;
TABLE crew |> WHERE EXISTS (FROM shift |> WHERE shift.member = crew.no) |> EXTEND (FROM boxes |> WHERE boxes.no = crew.no |> AGGREGATE count(*) AS c) AS n;
