-- ROLLUP, CUBE, GROUPING SETS, GROUPING and GROUPING_ID.
CREATE TEMPORARY VIEW takings AS SELECT * FROM VALUES
  ('north', 'kiosk', 1, 40, 4.5D), ('north', 'kiosk', 2, 55, 6.0D), ('north', 'stall', 1, 20, NULL),
  ('south', 'kiosk', 1, 35, 1.25D), ('south', 'stall', 2, NULL, 2.0D), (NULL, 'stall', 2, 15, 2.5D),
  ('south', NULL, 1, 10, 0.5D)
  AS takings(region, shop, week, amount, hours);

SELECT region, shop, sum(amount) FROM takings GROUP BY ROLLUP(region, shop);
SELECT region, shop, sum(amount) FROM takings GROUP BY region, shop WITH ROLLUP;
SELECT region, shop, sum(amount) FROM takings GROUP BY CUBE(region, shop);
SELECT week + amount AS wa, week, count(*) FROM takings GROUP BY week + amount, week WITH CUBE;
SELECT region, week, max(hours) FROM takings GROUP BY ROLLUP(region, week, (region, week)) ORDER BY region, week, 3;
SELECT region, week, max(hours) FROM takings GROUP BY CUBE(region, (week, shop)), shop;
SELECT region, shop, sum(amount) FROM takings GROUP BY region, shop GROUPING SETS (region, shop);
SELECT region, shop, sum(amount) FROM takings GROUP BY region, shop GROUPING SETS ((region), (shop), ());
SELECT region, shop, sum(amount) FROM takings GROUP BY GROUPING SETS ((region, shop), region);
SELECT region, sum(amount) FROM takings GROUP BY region, shop GROUPING SETS (shop);
SELECT region, week, sum(amount) FROM takings GROUP BY region, CUBE(week, shop);
SELECT region, week, sum(amount) FROM takings GROUP BY CUBE(region), ROLLUP(week);
SELECT region, shop, week, count(*) FROM takings GROUP BY CUBE(region, shop), ROLLUP(week), GROUPING SETS ((shop), ());
SELECT region, count(1) FROM takings GROUP BY region, GROUPING SETS ((region, shop), (region), ());
SELECT shop, sum(amount) AS s FROM takings GROUP BY shop, amount GROUPING SETS ((), shop, (shop, amount)) ORDER BY shop, s;
SELECT shop, sum(amount) AS s, grouping_id(shop, amount) AS g FROM takings GROUP BY shop, amount GROUPING SETS ((), (shop), (shop, amount));
SELECT region, shop, grouping(region), grouping(shop), grouping_id(region, shop) FROM takings GROUP BY CUBE(region, shop);
SELECT region, shop, grouping_id() FROM takings GROUP BY ROLLUP(region, shop) ORDER BY grouping_id(), region, shop;
SELECT grouping(shop) FROM takings GROUP BY GROUPING SETS (region, shop);
SELECT region FROM takings GROUP BY ROLLUP(region) HAVING grouping(region) = 0;
SELECT region, shop FROM takings GROUP BY CUBE(region, shop) HAVING grouping(shop) = 1 AND grouping_id(region, shop) > 1;
SELECT region, shop, sum(hours) FROM takings GROUP BY CUBE(region, shop) ORDER BY grouping(region), grouping(shop), region, shop;
SELECT region AS r, week AS w, sum(amount) FROM takings GROUP BY CUBE(r, w);
SELECT region AS r, sum(amount) FROM takings GROUP BY ROLLUP(1);
SELECT region || '-' || shop AS both, sum(week) FROM takings GROUP BY GROUPING SETS ((region || '-' || shop), ());
SELECT -week AS week, count(*) FROM takings GROUP BY GROUPING SETS ((week), (week, region));
SELECT region, shop, avg(amount) FROM takings GROUP BY GROUPING SETS ((region), (region, shop), (shop, region));
SELECT CASE WHEN region IS NULL THEN count(shop) WHEN shop IS NULL THEN count(week) END AS c FROM takings GROUP BY GROUPING SETS (region, shop, week);
SELECT region AS r, shop AS s FROM takings GROUP BY GROUPING SETS ((region), (region, shop)) HAVING s IS NOT NULL ORDER BY r DESC, s;
SELECT sum(amount), count(*), max(hours) FROM takings GROUP BY GROUPING SETS (());
SELECT sum(amount), count(*) FROM takings WHERE week > 9 GROUP BY GROUPING SETS (());
SELECT region, count(*) FROM takings WHERE week > 9 GROUP BY ROLLUP(region);
SELECT region, count(*) FROM takings WHERE week > 9 GROUP BY CUBE(region);
SELECT count(*) AS c, grouping_id() AS g FROM takings GROUP BY GROUPING SETS (());
SELECT region, shop, week, amount FROM takings GROUP BY GROUPING SETS (region, shop, week, amount);
SELECT region, week, sum(amount) FILTER (WHERE hours > 1) AS s FROM takings GROUP BY ROLLUP(region, week);
SELECT region, count(DISTINCT shop), count(DISTINCT week) FROM takings GROUP BY ROLLUP(region);
SELECT region, sum(amount) AS total, rank() OVER (ORDER BY sum(amount) DESC) AS rk FROM takings GROUP BY ROLLUP(region);
SELECT region, shop, sum(sum(amount)) OVER (PARTITION BY grouping_id(region, shop)) AS of_level FROM takings GROUP BY CUBE(region, shop);
SELECT t.region FROM takings t GROUP BY ROLLUP(t.region, t.shop) HAVING t.region = 'north';
SELECT * FROM (SELECT region, shop, sum(amount) AS a FROM takings GROUP BY CUBE(region, shop)) WHERE region IS NULL AND shop = 'kiosk';
SELECT region, n FROM (SELECT region, count(*) AS n FROM takings GROUP BY ROLLUP(region)) JOIN (SELECT 3 AS n) USING (n);
SELECT region, shop, sum(amount) FROM takings GROUP BY ALL ORDER BY region, shop;
SELECT count(*) FROM (SELECT region FROM takings GROUP BY CUBE(region, shop, week));
SELECT region, grouping__id, count(*) FROM takings GROUP BY CUBE(region, shop);
SELECT region, count(*) FROM takings GROUP BY ROLLUP(region) HAVING count(*) > (SELECT min(week) FROM takings);
SELECT first_value(region) OVER (ORDER BY grouping(region), region) AS f, region FROM takings GROUP BY ROLLUP(region);
SELECT grouping_id() AS g, count(*) FROM takings WHERE region IS NULL AND region IS NOT NULL GROUP BY GROUPING SETS (());
SELECT region, grouping__id + 1 AS g FROM takings GROUP BY GROUPING SETS ((region), ());
