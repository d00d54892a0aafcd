-- Functions of dates.
CREATE TEMPORARY VIEW days AS SELECT * FROM VALUES
  (1, DATE '2024-02-29', '2024-02-29', 'birth'), (2, DATE '1999-12-31', '31.12.1999', 'party'), (3, DATE '2024-03-01', NULL, 'birth'),
  (4, NULL, 'no date', 'none'), (5, DATE '0101-01-01', '0101-01-01', 'party'), (6, DATE '2024-02-28', '2024-02-28', NULL)
  AS days(id, d, txt, kind);

SELECT id, year(d), quarter(d), month(d), day(d), dayofmonth(d), dayofyear(d) FROM days;
SELECT id, dayofweek(d), weekday(d), weekofyear(d), dayname(d), monthname(d) FROM days;
SELECT id, d + 1, d - 1, date_add(d, 30), date_sub(d, 30), dateadd(d, 5) FROM days;
SELECT id, add_months(d, 1), add_months(d, -12), last_day(d), next_day(d, 'MO') FROM days;
SELECT id, datediff(DATE '2024-03-05', d), date_diff(d, DATE '2024-01-01'), DATE '2024-03-05' - d AS gap FROM days;
SELECT id, dateadd(MONTH, 2, d), dateadd(WEEK, -1, d), datediff(MONTH, d, DATE '2025-01-01'), timestampdiff(YEAR, d, DATE '2025-01-01') FROM days;
SELECT id, months_between(d, DATE '2024-01-31'), months_between(d, DATE '2024-01-31', false) FROM days;
SELECT id, trunc(d, 'year'), trunc(d, 'MM'), trunc(d, 'quarter'), trunc(d, 'week') FROM days;
SELECT id, date_trunc('month', d), date_trunc('DAY', d) FROM days;
SELECT id, extract(YEAR FROM d), extract(DOW FROM d), extract(WEEK FROM d), date_part('doy', d), datepart('MONTH', d) FROM days;
SELECT id, date_format(d, 'yyyy/MM/dd'), date_format(d, 'EEE d MMM'), to_char(d, 'yyyy') FROM days;
SELECT id, to_date(txt, 'yyyy-MM-dd') AS t FROM days WHERE id IN (1, 3, 5, 6);
SELECT id, try_to_date(txt, 'dd.MM.yyyy') AS t, try_cast(txt AS DATE) AS c FROM days;
SELECT id, make_date(2020 + id, id, 1), make_date(year(d), 1, 1), date_from_unix_date(id * 100), unix_date(d) FROM days;
SELECT id FROM days WHERE d BETWEEN DATE '2024-02-01' AND DATE '2024-02-29';
SELECT id FROM days WHERE d > '2024-02-28' OR d < DATE '1000-01-01';
SELECT id FROM days WHERE d = CAST('2024-02-29' AS DATE) OR d IS NULL;
SELECT kind, min(d), max(d), count(d) FROM days GROUP BY kind;
SELECT year(d) AS y, month(d) AS m, count(*) FROM days GROUP BY year(d), month(d) ORDER BY y, m;
SELECT d, count(*) FROM days GROUP BY d ORDER BY d DESC NULLS LAST;
SELECT id, lag(d) OVER (ORDER BY d) AS before, d - lag(d) OVER (ORDER BY d) AS gap FROM days WHERE d IS NOT NULL;
SELECT id, count(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS near FROM days;
SELECT a.id, b.id AS bid FROM days a JOIN days b ON b.d = a.d + 1;
SELECT a.id, b.id AS bid FROM days a LEFT JOIN days b ON a.d < b.d AND datediff(b.d, a.d) < 400;
SELECT x, count(id) FROM (SELECT explode(sequence(DATE '2024-02-28', DATE '2024-03-01', INTERVAL 1 DAY)) AS x) LEFT JOIN days ON d = x GROUP BY x;
SELECT id, sequence(d, d + 2) AS s FROM days WHERE id = 1;
SELECT id, d + INTERVAL '1' MONTH, d - INTERVAL '2' YEAR, d + INTERVAL '1 1' DAY TO HOUR FROM days;
SELECT id, CAST(d AS STRING), CAST(d AS TIMESTAMP), d || '' FROM days;
SELECT id, greatest(d, DATE '2000-01-01'), least(d, DATE '2000-01-01'), coalesce(d, DATE '1970-01-01') FROM days;
SELECT DATE '2024-01-31' + id AS d FROM days ORDER BY d;
SELECT id, date(txt) AS t FROM days WHERE id IN (1, 6);
SELECT id, CASE WHEN d < DATE '2000-01-01' THEN 'old' WHEN d IS NULL THEN 'none' ELSE 'new' END AS age FROM days;
SELECT max(d) - min(d) AS span FROM days WHERE year(d) > 1000;
SELECT id, to_unix_timestamp(d), unix_timestamp(d) FROM days WHERE d > DATE '1970-01-01';
SELECT id FROM days WHERE dayofweek(d) IN (SELECT dayofweek(d) FROM days WHERE kind = 'birth') ORDER BY id;
SELECT avg(datediff(d, DATE '2024-01-01')) AS a FROM days WHERE kind = 'birth';
SELECT current_date() > d AS past, current_date() IS NOT NULL AS now FROM days;
SELECT date_format(d, 'MMMM') AS m, collect_set(year(d)) FROM days WHERE id = 1 GROUP BY date_format(d, 'MMMM');
SELECT id, d IN (DATE '2024-02-29', DATE '1999-12-31') AS f FROM days;
SELECT mode(month(d), true) AS m, any_value(kind) FROM days WHERE kind = 'birth';
