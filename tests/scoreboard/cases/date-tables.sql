-- Dates, times and intervals as database textbooks test them: a table of values, every comparison.
CREATE TEMPORARY VIEW days AS SELECT * FROM VALUES
  (1, DATE '1957-04-09'), (2, DATE '1957-06-13'), (3, DATE '1996-02-28'), (4, DATE '1996-02-29'),
  (5, DATE '1996-03-01'), (6, DATE '2000-04-01'), (7, DATE '2038-01-19'), (8, DATE '2040-04-10'), (9, NULL) AS days(id, d);
CREATE TEMPORARY VIEW stamps AS SELECT * FROM VALUES
  (1, TIMESTAMP '1970-01-01 00:00:00'), (2, TIMESTAMP '1997-02-10 17:32:01.4'), (3, TIMESTAMP '1999-12-31 23:59:59.999999'),
  (4, TIMESTAMP '2000-02-29 12:00:00'), (5, TIMESTAMP '2001-09-22 18:19:20'), (6, NULL) AS stamps(id, t);
CREATE TEMPORARY VIEW spans AS SELECT * FROM VALUES
  (1, INTERVAL '1' MINUTE), (2, INTERVAL '5' HOUR), (3, INTERVAL '10' DAY), (4, INTERVAL '-14' SECOND),
  (5, INTERVAL '1 02:03:04' DAY TO SECOND), (6, NULL) AS spans(id, i);
CREATE TEMPORARY VIEW terms AS SELECT * FROM VALUES
  (1, INTERVAL '34' YEAR), (2, INTERVAL '3' MONTH), (3, INTERVAL '1-2' YEAR TO MONTH), (4, INTERVAL '-5' MONTH) AS terms(id, y);

SELECT id, d FROM days WHERE d < DATE '2000-01-01';
SELECT id FROM days WHERE d BETWEEN DATE '2000-01-01' AND '2039-01-01';
SELECT id, d - DATE '2000-01-01' AS since, datediff(d, DATE '1996-02-28') AS n FROM days;
SELECT id, year(d), month(d), day(d), dayofweek(d), dayofyear(d), weekofyear(d), quarter(d) FROM days;
SELECT id, extract(YEAROFWEEK FROM d), extract(DOW_ISO FROM d), date_part('week', d) FROM days;
SELECT id, add_months(d, 12), last_day(d), next_day(d, 'MON'), trunc(d, 'quarter'), date_trunc('year', d) FROM days;
SELECT id, d + 1, d - 30, date_add(d, id), date_sub(d, id), d + INTERVAL '1' MONTH FROM days;
SELECT id, date_format(d, 'dd MMM yyyy'), to_date(date_format(d, 'yyyyMMdd'), 'yyyyMMdd') = d AS same FROM days;
SELECT id, make_date(year(d), 1, 1) AS first, months_between(DATE '2000-01-01', d) AS m FROM days;
SELECT extract(YEAR FROM d) AS y, count(*), min(d), max(d) FROM days GROUP BY extract(YEAR FROM d);
SELECT x.id, y.id AS other FROM days x JOIN days y ON datediff(y.d, x.d) BETWEEN 1 AND 100;
SELECT d, lead(d) OVER (ORDER BY d) - d AS gap FROM days;
SELECT id, unix_date(d), date_from_unix_date(unix_date(d)) = d AS same, d IS NULL AS none FROM days;
SELECT id, explode(sequence(d, d + INTERVAL '2' DAY)) AS s FROM days WHERE id IN (3, 4);
SELECT id, t FROM stamps WHERE t > TIMESTAMP '1997-01-02';
SELECT id, t - TIMESTAMP '1997-01-02' AS diff, date_trunc('week', t) AS week FROM stamps;
SELECT id, extract(HOUR FROM t), extract(MINUTE FROM t), extract(SECOND FROM t), date_part('doy', t) FROM stamps;
SELECT id, date_format(t, 'yyyy-MM-dd HH:mm:ss.SSS'), CAST(t AS DATE), CAST(t AS STRING) FROM stamps;
SELECT id, unix_timestamp(t), unix_micros(t), timestamp_seconds(unix_seconds(t)) FROM stamps;
SELECT id, to_utc_timestamp(t, 'Asia/Tokyo'), from_utc_timestamp(t, 'Europe/Paris') FROM stamps;
SELECT id, timestampadd(MONTH, 1, t), timestampdiff(DAY, TIMESTAMP '1997-01-01 00:00:00', t) FROM stamps;
SELECT id, make_timestamp(year(t), month(t), day(t), hour(t), minute(t), second(t)) AS m FROM stamps;
SELECT CAST(t AS DATE) AS d, max(t) - min(t) AS spread FROM stamps GROUP BY CAST(t AS DATE);
SELECT id, to_timestamp(date_format(t, 'yyyy/MM/dd HH'), 'yyyy/MM/dd HH') AS p, try_to_timestamp('x' || id) AS q FROM stamps;
SELECT id, t::timestamp_ntz AS n, convert_timezone('UTC', 'America/New_York', t::timestamp_ntz) AS z FROM stamps;
SELECT id, i FROM spans WHERE i < INTERVAL '1' DAY;
SELECT x.id, y.id AS other, x.i + y.i AS s, x.i > y.i AS more FROM spans x JOIN spans y ON x.id < y.id;
SELECT id, i * 2, i / 3, -i, abs(i), extract(DAY FROM i), extract(SECOND FROM i) FROM spans;
SELECT sum(i), avg(i), min(i), max(i), count(i) FROM spans;
SELECT s.id, st.id AS at, st.t + s.i AS later FROM spans s, stamps st WHERE st.id < 3;
SELECT id, CAST(y AS STRING), CAST(y * 2 AS STRING), extract(YEAR FROM y), extract(MONTH FROM y) FROM terms;
SELECT t.id, d.id AS at, d.d + t.y AS later FROM terms t JOIN days d ON d.id > 5;
SELECT id FROM terms ORDER BY y DESC LIMIT 2;
SELECT id, CAST(i AS STRING), CAST(CAST(i AS STRING) AS INTERVAL DAY TO SECOND) = i AS same FROM spans;
SELECT id, make_interval(0, id, 0, 1) IS NOT NULL AS made, CAST(make_ym_interval(id, 1) AS STRING), make_dt_interval(id, 1, 2, 3.5) FROM terms;
