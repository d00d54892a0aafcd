-- PIVOT.
CREATE TEMPORARY VIEW trips AS SELECT * FROM VALUES
  ('bus', 2020, 10), ('tram', 2020, 20), ('bus', 2020, 5), ('bus', 2021, 48), ('tram', 2021, 30), ('bus', NULL, 3), (NULL, 2020, 7)
  AS trips(line, yr, fare);
CREATE TEMPORARY VIEW yrs AS SELECT * FROM VALUES (2020, 1), (2021, 2) AS yrs(y, q);
CREATE TEMPORARY VIEW rich AS SELECT * FROM VALUES
  (2020, array(1, 1), struct(1, 'a')), (2021, array(2, 2), struct(2, 'b')) AS rich(y, a, st);

SELECT * FROM (SELECT yr, line, fare FROM trips) PIVOT (sum(fare) FOR line IN ('bus', 'tram'));
SELECT * FROM trips PIVOT (sum(fare) FOR yr IN (2020, 2021));
SELECT * FROM trips PIVOT (sum(fare), avg(fare) FOR line IN ('bus', 'tram'));
SELECT * FROM (SELECT line, fare FROM trips) PIVOT (sum(fare) FOR line IN ('bus', 'tram'));
SELECT * FROM trips PIVOT (sum(fare) AS s, min(yr) AS m FOR line IN ('bus', 'tram'));
SELECT * FROM (SELECT line, yr, fare, q FROM trips JOIN yrs ON yr = y) PIVOT (sum(fare) FOR q IN (1, 2));
SELECT * FROM (SELECT line, yr, fare, q FROM trips JOIN yrs ON yr = y) PIVOT (sum(fare * q) FOR line IN ('bus', 'tram'));
SELECT `2020_s`, `2021_a`, c FROM (SELECT yr AS y, line AS c, fare AS e FROM trips) PIVOT (sum(e) AS s, avg(e) AS a FOR y IN (2020, 2021));
SELECT one_s, two_s, c FROM (SELECT yr AS y, line AS c, fare AS e FROM trips) PIVOT (sum(e) AS s, count(*) AS n FOR y IN (2020 AS one, 2021 AS two));
SELECT * FROM trips PIVOT (ceil(sum(fare)), avg(fare) + 1 AS a1 FOR line IN ('bus', 'tram'));
SELECT * FROM (SELECT line, yr, fare, q FROM trips JOIN yrs ON yr = y) PIVOT (sum(fare) FOR (line, yr) IN (('bus', 2020), ('tram', 2021)));
SELECT * FROM (SELECT line, yr, fare, q FROM trips JOIN yrs ON yr = y) PIVOT (sum(fare) FOR (line, q) IN (('bus', 2) AS c1, ('tram', 1) AS c2));
SELECT * FROM (SELECT line, yr, a FROM trips JOIN rich ON yr = y) PIVOT (min(a) FOR line IN ('bus', 'tram'));
SELECT * FROM (SELECT line, y, a FROM trips JOIN rich ON yr = y) PIVOT (max(a) FOR (y, line) IN ((2020, 'bus'), (2021, 'tram')));
SELECT * FROM (SELECT fare, yr, a FROM trips JOIN rich ON yr = y) PIVOT (sum(fare) FOR a IN (array(1, 1), array(2, 2)));
SELECT * FROM (SELECT line, fare, yr, a FROM trips JOIN rich ON yr = y) PIVOT (sum(fare) FOR (line, a) IN (('bus', array(1, 1)), ('tram', array(2, 2))));
SELECT * FROM (SELECT fare, yr, st FROM trips JOIN rich ON yr = y) PIVOT (sum(fare) FOR st IN ((1, 'a'), (2, 'b')));
SELECT * FROM (SELECT line, fare, st FROM trips JOIN rich ON yr = y) PIVOT (sum(fare) FOR (line, st) IN (('bus', (1, 'a')), ('tram', (2, 'b'))));
SELECT * FROM (SELECT line, fare, 'a' AS a, 'z' AS z, 'b' AS b FROM trips) PIVOT (sum(fare) FOR line IN ('bus', 'tram'));
SELECT * FROM trips PIVOT (count(*) FOR line IN ('bus', 'plane'));
SELECT * FROM trips PIVOT (count(fare) AS n FOR yr IN (2020)) WHERE line IS NOT NULL;
SELECT line, `2021` - `2020` AS growth FROM (SELECT line, yr, fare FROM trips) PIVOT (sum(fare) FOR yr IN (2020, 2021)) ORDER BY line;
SELECT * FROM trips PIVOT (max(fare) FOR yr IN (2020 AS a, 2021 AS b)) AS p WHERE p.b > p.a;
SELECT * FROM trips PIVOT (first(fare) FOR yr IN (2021));
SELECT * FROM trips PIVOT (count(DISTINCT line) AS lines FOR yr IN (2020, 2021));
SELECT * FROM (SELECT line, yr FROM trips) PIVOT (count(*) AS n FOR yr IN (NULL, 2020));
SELECT * FROM (SELECT upper(line) AS line, yr, fare FROM trips) PIVOT (sum(fare) FOR line IN ('BUS' AS bus, 'TRAM' AS tram)) ORDER BY yr;
SELECT * FROM (SELECT line, yr, fare, fare > 15 AS dear FROM trips) PIVOT (sum(fare) FOR dear IN (true, false));
SELECT p.*, yrs.q FROM trips PIVOT (sum(fare) FOR line IN ('bus' AS bus, 'tram' AS tram)) AS p LEFT JOIN yrs ON p.yr = yrs.y;
SELECT sum(bus), sum(tram) FROM trips PIVOT (sum(fare) FOR line IN ('bus' AS bus, 'tram' AS tram));
WITH p AS (SELECT * FROM trips PIVOT (sum(fare) FOR line IN ('bus' AS bus))) SELECT yr FROM p WHERE bus > 10;
SELECT * FROM (SELECT * FROM trips UNION ALL SELECT * FROM trips) PIVOT (sum(fare) FOR yr IN (2020, 2021));
SELECT * FROM trips PIVOT (collect_list(fare) FOR yr IN (2021));
SELECT * FROM trips PIVOT (sum(fare) FILTER (WHERE fare > 6) AS big FOR yr IN (2020, 2021));
SELECT yr, bus FROM trips PIVOT (avg(fare) FOR line IN ('bus' AS bus)) ORDER BY bus DESC NULLS LAST LIMIT 1;
