-- Casts, implicit and explicit, and literals.
CREATE TEMPORARY VIEW mix AS SELECT * FROM VALUES
  (1, '12', 3.75, 250.5D, true), (2, ' 7 ', -1.25, -0.5D, false), (3, 'abc', NULL, 1e10D, NULL), (4, NULL, 99.99, double('NaN'), true)
  AS mix(id, s, d, f, b);

SELECT id, CAST(d AS INT), CAST(d AS STRING), CAST(f AS STRING), CAST(b AS INT), CAST(id AS BOOLEAN) FROM mix;
SELECT id, try_cast(s AS INT), try_cast(s AS DOUBLE), try_cast(s AS BOOLEAN), try_cast(f AS TINYINT) FROM mix;
SELECT id, CAST(s AS INT) + 1 AS v FROM mix WHERE id < 3;
SELECT id, s::STRING, id::BIGINT, d::DECIMAL(10, 1), id::STRING || 'x' FROM mix;
SELECT id, CAST(d AS DECIMAL(4, 1)), CAST(id AS DECIMAL(3, 1)), CAST(f AS DECIMAL(20, 2)) FROM mix WHERE id < 3;
SELECT id, int(d), double(id), string(b), boolean(id - 1), bigint(d), float(d), decimal(id) FROM mix;
SELECT id, CAST(id AS BINARY), CAST(s AS BINARY), CAST(CAST(s AS BINARY) AS STRING) FROM mix;
SELECT id, CAST(array(id, 2) AS ARRAY<STRING>), CAST(map('k', id) AS MAP<STRING, DOUBLE>), CAST(struct(id, s) AS STRUCT<a: BIGINT, b: STRING>) FROM mix;
SELECT id, CAST(array(1, id) AS STRING), CAST(map('k', id) AS STRING), CAST(struct(id, s) AS STRING) FROM mix;
SELECT 1Y, 2S, 3, 4L, 5.5, 6.5F, 7.5D, 8BD, 1e3, -9, .5, 1.E2 FROM mix WHERE id = 1;
SELECT X'1F2E', 'text', "text", TRUE, NULL, DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', INTERVAL 1 DAY FROM mix WHERE id = 1;
SELECT id + 1.5, id + 1.5D, id / 2, id DIV 2, id % 2, -id, +id FROM mix;
SELECT id = '1' AS a, d > '3' AS c, '2' < id AS e, id <=> NULL AS g FROM mix;
SELECT id, s = 12 AS eq FROM mix WHERE id = 1;
SELECT id IN ('1', '3') AS i, id BETWEEN '2' AND 3.5 AS j FROM mix;
SELECT typeof(id + 1L), typeof(id + 1.0), typeof(id / 2), typeof(d * d), typeof(coalesce(id, 2L)), typeof(if(b, 1, 2.5)) FROM mix;
SELECT coalesce(id, 1.5), if(b, id, 2L), nvl(s, id), CASE WHEN b THEN 1 ELSE 2.5 END FROM mix;
SELECT concat(id, s, b), id || d FROM mix;
SELECT sum(id), sum(d), sum(f), avg(id), avg(d) FROM mix WHERE id < 4;
SELECT CAST(s AS DATE) FROM mix WHERE s IS NULL;
SELECT CAST('2024-05-06' AS DATE) + id AS dt, CAST('2024-05-06 07:08:09' AS TIMESTAMP) FROM mix;
SELECT CAST(CAST(id AS TIMESTAMP) AS BIGINT) AS v, CAST(timestamp_seconds(id) AS DOUBLE) FROM mix;
SELECT hex(CAST(id AS BINARY)), conv(id, 10, 2), bin(id), unhex('41') FROM mix;
SELECT CAST(f AS INT) FROM mix WHERE f < 1000;
SELECT f, f = f AS same, isnan(f), nanvl(f, 0) FROM mix;
SELECT CAST(d AS BIGINT) AS k, count(*) FROM mix GROUP BY CAST(d AS BIGINT);
SELECT a.id, m.id AS mid FROM mix a JOIN mix m ON a.id = CAST(m.d AS STRING)::DOUBLE::INT;
SELECT id FROM mix WHERE CAST(id AS STRING) LIKE '%2' OR b;
SELECT id FROM mix ORDER BY CAST(s AS BINARY), id;
SELECT round(d, 1), bround(d, 1), ceil(d), floor(d), round(f), truncate(d, 1) FROM mix;
SELECT CAST(INTERVAL '3' DAY AS STRING), CAST('1' AS INTERVAL DAY), CAST(INTERVAL '48' HOUR AS INTERVAL DAY) FROM mix;
SELECT to_number('12', '99') + id AS n, to_char(d, '99.99') FROM mix;
SET spark.sql.ansi.enabled=false;
SELECT id, CAST(s AS INT), CAST(f AS TINYINT), id + s FROM mix;
SELECT id, CAST(1e10D AS INT), CAST('x' AS DATE), 2147483647 + id FROM mix;
SELECT id FROM mix WHERE s > 5;
SELECT id FROM mix WHERE b = 1;
SET spark.sql.ansi.enabled=true;
