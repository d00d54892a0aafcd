-- Grouping: keys, expressions over keys, aliases, places, ALL, aggregates over nothing.
CREATE OR REPLACE TEMPORARY VIEW stays AS SELECT * FROM VALUES
  (1, 'lake', 'anna', 3, 120.50, true),
  (2, 'lake', 'bo', 1, 80.00, false),
  (3, 'peak', 'anna', NULL, 95.25, true),
  (4, 'peak', 'cy', 4, NULL, NULL),
  (5, NULL, 'bo', 2, 60.00, false),
  (6, NULL, 'dee', 2, 60.00, true),
  (7, 'lake', NULL, 5, 200.10, NULL),
  (8, 'shore', 'anna', 1, 80.00, false)
  AS stays(id, hut, guest, nights, price, paid);
CREATE OR REPLACE TEMPORARY VIEW readings AS SELECT * FROM VALUES
  (1, double('NaN'), map('k', 1)), (2, double('NaN'), map('k', 1)), (3, -0.0D, map('k', 2)),
  (4, 0.0D, map('k', 2)), (5, double('Infinity'), NULL), (6, NULL, map('j', 1, 'k', 2)),
  (7, -double('Infinity'), map('k', 2, 'j', 1))
  AS readings(id, level, tags);

-- Keys.
SELECT hut, sum(nights) AS n FROM stays GROUP BY hut ORDER BY hut;
SELECT hut, guest, max(price) FROM stays GROUP BY hut, guest;
SELECT count(*), count(guest), count(nights) FROM stays GROUP BY hut;
SELECT length(hut) AS l, count(*) FROM stays GROUP BY length(hut);
SELECT nights % 2 AS odd, sum(price) FROM stays GROUP BY odd ORDER BY odd DESC NULLS LAST;
SELECT nights + 1 + 2, count(price) FROM stays GROUP BY nights + 1;
SELECT upper(hut) || '!' FROM stays GROUP BY upper(hut);
SELECT hut IS NULL AS nowhere, NOT (hut IS NULL) AS somewhere, count(*) FROM stays GROUP BY hut IS NULL;
SELECT struct(hut, paid) AS both, count(*) FROM stays GROUP BY struct(hut, paid);
SELECT if(nights > 2, 'long', 'short') AS kind, avg(price) FROM stays GROUP BY if(nights > 2, 'long', 'short');
SELECT CASE WHEN paid THEN 1 WHEN NOT paid THEN 0 END p, sum(nights) FROM stays GROUP BY ALL;
SELECT 'all huts' AS title, count(*) FROM stays GROUP BY 1;
SELECT 'none' FROM stays WHERE id > 100 GROUP BY 'none';
SELECT hut AS h, guest AS g FROM stays GROUP BY h, g;
SELECT hut AS guest, count(*) FROM stays GROUP BY hut;
SELECT 2, hut, count(*) FROM stays GROUP BY 1, 2;
SELECT count(*), hut FROM stays GROUP BY 2 HAVING count(*) > 1;
SELECT hut, hut AS again, sum(id) FROM stays GROUP BY again, 1;
SELECT sum(id) FROM stays GROUP BY 1 + 1;
SELECT hut, paid, count(*) AS n, avg(price) FROM stays GROUP BY all;
SELECT lower(guest) AS who, max(nights) + 5 FROM stays GROUP BY ALL HAVING max(nights) + 5 > 6;
SELECT max(id) - min(id) FROM stays GROUP BY ALL;
SELECT hut, guest FROM stays GROUP BY ALL ORDER BY ALL;
SELECT who, top FROM (SELECT guest AS who, max(price) AS top FROM stays GROUP BY ALL) WHERE top > 70;

-- Values that compare in their own way.
SELECT level, count(*) FROM readings GROUP BY level ORDER BY level;
SELECT tags, collect_list(id) FROM (SELECT * FROM readings ORDER BY id) GROUP BY tags;
SELECT array(tags), count(*) FROM readings GROUP BY array(tags);
SELECT named_struct('t', tags) AS s, max(id) FROM readings GROUP BY named_struct('t', tags);
SELECT map_keys(tags) k, count(*) FROM readings WHERE size(tags) = 1 GROUP BY map_keys(tags);

-- Without keys, over nothing.
SELECT max(price), count(*), sum(nights) FROM stays;
SELECT max(price), count(*), sum(nights), avg(id) FROM stays WHERE hut = 'moon';
SELECT hut, max(price), count(*) FROM stays WHERE hut = 'moon' GROUP BY hut;
SELECT 7 FROM (SELECT count(1) FROM stays WHERE false) t;
SELECT 7 FROM (SELECT 1 AS one, min(id) FROM stays WHERE false) t WHERE one <> one;
SELECT count(DISTINCT hut, guest) FROM stays;
SELECT count(DISTINCT hut), count(DISTINCT hut, paid), sum(DISTINCT nights), avg(DISTINCT price) FROM stays;
SELECT corr(DISTINCT nights, price), corr(nights, price) FROM stays;
SELECT skewness(nights), kurtosis(nights), variance(nights), stddev(price), var_pop(id) FROM stays;

-- Booleans.
SELECT every(paid), some(paid), any(paid), bool_and(paid), bool_or(paid) FROM stays;
SELECT hut, every(paid), any(paid) FROM stays GROUP BY hut;
SELECT hut, bool_or(paid) FROM stays GROUP BY hut HAVING bool_or(paid) IS NULL OR NOT bool_or(paid);
SELECT every(paid), bool_or(paid) FROM stays WHERE paid IS NULL;
SELECT id, hut, every(paid) OVER (PARTITION BY hut ORDER BY id) FROM stays;

-- Aggregates of everything, and what follows them.
SELECT hut, collect_set(paid) FROM stays WHERE hut = 'shore' GROUP BY hut;
SELECT sort_array(array_agg(guest)) AS guests FROM stays;
SELECT hut, max(struct(price, id)) AS best FROM stays GROUP BY hut;
SELECT hut, max_by(guest, price), min_by(guest, price) FROM stays WHERE price <> 60 GROUP BY hut;
SELECT approx_count_distinct(guest) FROM stays GROUP BY paid;
SELECT * FROM (SELECT hut, count(*) AS c FROM stays GROUP BY hut) WHERE c > 1;
SELECT half * 2 FROM (SELECT if(n > 2, 1, n) AS half FROM (SELECT nights AS n FROM stays) GROUP BY n) GROUP BY half;
SELECT sum(m) FROM (SELECT hut, max(nights) AS m FROM stays GROUP BY hut) WHERE hut IS NOT NULL;
SELECT DISTINCT count(*) FROM stays GROUP BY hut;
SELECT hut, count(*) * 100 / (SELECT count(*) FROM stays) AS share FROM stays GROUP BY hut;
SELECT guest, sum(nights) FROM stays WHERE paid IN (SELECT any(paid) FROM stays) GROUP BY guest;
SELECT coalesce(hut, 'tent') AS place, sum(price) FROM stays GROUP BY coalesce(hut, 'tent') ORDER BY sum(price), place;
SELECT hut FROM stays GROUP BY hut ORDER BY max(id) DESC;
SELECT first(guest) AS f FROM (SELECT guest FROM stays WHERE id = 2) GROUP BY ();

-- Settings.
SET spark.sql.groupByAliases=false;
SELECT nights AS n, count(*) FROM stays GROUP BY nights;
SELECT guest AS hut, count(*) FROM stays GROUP BY hut, guest;
SET spark.sql.groupByAliases=true;
