-- Intervals: literals, arithmetic, functions, aggregates.
CREATE TEMPORARY VIEW jobs AS SELECT * FROM VALUES
  (1, TIMESTAMP '2024-01-01 08:00:00', TIMESTAMP '2024-01-01 10:30:00', INTERVAL '1' DAY), (2, TIMESTAMP '2024-01-02 00:00:00', TIMESTAMP '2024-01-05 00:00:01', INTERVAL '2' DAY),
  (3, TIMESTAMP '2024-02-01 00:00:00', NULL, NULL), (4, NULL, TIMESTAMP '2024-01-01 00:00:00', INTERVAL '-1' DAY) AS jobs(id, a, b, due);

SELECT id, b - a AS took FROM jobs;
SELECT id, a + due AS d, a - due AS e, due * 2 AS f, due / 2 AS g, -due AS h FROM jobs;
SELECT id, a + INTERVAL 1 YEAR, a + INTERVAL '2-3' YEAR TO MONTH, a - INTERVAL '1 02:00:00' DAY TO SECOND FROM jobs;
SELECT id, a + INTERVAL 3 WEEKS, a + INTERVAL 1 MONTH 2 DAYS AS m FROM jobs;
SELECT id, make_dt_interval(id, 2), a + make_ym_interval(1, id), a + make_interval(0, id, 0, 1) FROM jobs;
SELECT id, extract(DAY FROM b - a), extract(HOUR FROM b - a), date_part('minute', b - a) FROM jobs;
SELECT sum(b - a), avg(b - a), max(due), min(due) FROM jobs;
SELECT due, count(*) FROM jobs GROUP BY due;
SELECT id FROM jobs WHERE b - a > INTERVAL '1' DAY;
SELECT id FROM jobs WHERE due BETWEEN INTERVAL '0' DAY AND INTERVAL '30' HOUR;
SELECT id FROM jobs ORDER BY due DESC NULLS LAST, id;
SELECT id, due = INTERVAL '24' HOUR AS day, due <=> NULL AS none FROM jobs;
SELECT id, CAST(due AS STRING), CAST(due AS INTERVAL HOUR), abs(due), signum(due) FROM jobs;
SELECT id, try_add(a, due), try_subtract(a, due), try_multiply(due, 3) FROM jobs;
SELECT id, sum(due) OVER (ORDER BY id) AS run FROM jobs;
SELECT x.id, y.id AS yid FROM jobs x JOIN jobs y ON y.a BETWEEN x.a AND x.a + x.due;
SELECT id, explode(sequence(a, a + due, INTERVAL '12' HOUR)) AS s FROM jobs WHERE id = 1;
SELECT id, coalesce(due, INTERVAL '0' DAY) AS d, if(due IS NULL, 'open', 'set') AS o FROM jobs;
SELECT collect_list(due) FROM (SELECT due FROM jobs WHERE id < 3 ORDER BY id);
SELECT id, DATE '2024-03-31' - INTERVAL 1 MONTH AS d, DATE '2024-01-01' + INTERVAL '1' DAY AS e FROM jobs WHERE id = 1;
SELECT count(DISTINCT due), max(b - a) > INTERVAL '1' HOUR AS long FROM jobs;
SELECT id, justify FROM jobs, (SELECT INTERVAL '25' HOUR AS justify) WHERE id = 2;
SELECT CAST('3' AS INTERVAL DAY) + due AS d FROM jobs;
