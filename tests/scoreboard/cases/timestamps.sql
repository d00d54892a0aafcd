-- Timestamps with and without a time zone, times of day, time windows.
CREATE TEMPORARY VIEW pings AS SELECT * FROM VALUES
  (1, TIMESTAMP '2024-03-31 00:59:59', TIMESTAMP_NTZ '2024-03-31 00:59:59', 'a', 5), (2, TIMESTAMP '2024-03-31 03:10:00.123456', TIMESTAMP_NTZ '2024-03-31 03:10:00', 'a', 7),
  (3, TIMESTAMP '2024-03-31 03:12:30', TIMESTAMP_NTZ '2024-03-31 03:12:30', 'b', 1), (4, TIMESTAMP '2023-11-05 01:30:00', NULL, 'b', NULL), (5, NULL, TIMESTAMP_NTZ '1970-01-01 00:00:00', NULL, 3)
  AS pings(id, t, n, who, v);

SELECT id, year(t), hour(t), minute(t), second(t), extract(SECOND FROM t), date_part('MICROSECONDS', t) IS NULL AS m FROM pings WHERE id < 4;
SELECT id, date_trunc('HOUR', t), date_trunc('minute', t), date_trunc('DAY', n), date_trunc('WEEK', t) FROM pings;
SELECT id, t + INTERVAL 1 HOUR, t - INTERVAL '1 02:03:04' DAY TO SECOND, n + INTERVAL 90 MINUTES FROM pings;
SELECT id, t - TIMESTAMP '2024-03-31 00:00:00' AS gap FROM pings;
SELECT id, timestampadd(MINUTE, 30, t), timestampdiff(HOUR, t, TIMESTAMP '2024-04-01 00:00:00') FROM pings;
SELECT id, date_format(t, 'HH:mm:ss.SSS'), date_format(n, 'yyyy-MM-dd') FROM pings;
SELECT id, unix_timestamp(t), unix_seconds(t), unix_millis(t), unix_micros(t) FROM pings;
SELECT id, timestamp_seconds(id * 1000), timestamp_millis(id), timestamp_micros(id), from_unixtime(id) FROM pings;
SELECT id, make_timestamp(2024, 1, id, 10, 30, 15.5), make_timestamp_ntz(2024, id, 1, 0, 0, 0) FROM pings;
SELECT id, to_timestamp('2024-01-0' || id), to_timestamp('0' || id || '/2024', 'MM/yyyy'), try_to_timestamp('x') FROM pings;
SELECT id, to_timestamp_ntz('2024-01-01 10:00:00'), to_timestamp_ltz('2024-01-01 10:00:00') FROM pings;
SELECT id, from_utc_timestamp(t, 'Europe/Berlin'), to_utc_timestamp(t, 'America/New_York') FROM pings;
SELECT id, convert_timezone('UTC', 'Asia/Tokyo', n) AS z FROM pings;
SELECT id, CAST(t AS DATE), CAST(t AS STRING), CAST(n AS TIMESTAMP), CAST(t AS TIMESTAMP_NTZ) FROM pings;
SELECT id FROM pings WHERE t > TIMESTAMP '2024-03-31 03:00:00' AND t <= '2024-03-31 03:12:30';
SELECT id FROM pings WHERE t = n OR n < TIMESTAMP '2000-01-01 00:00:00';
SELECT who, min(t), max(n), count(t) FROM pings GROUP BY who;
SELECT window.start AS s, window.end AS e, sum(v) FROM pings GROUP BY window(t, '1 hour');
SELECT window(t, '10 minutes', '5 minutes').start AS s, count(*) FROM pings WHERE id < 4 GROUP BY window(t, '10 minutes', '5 minutes');
SELECT window.start AS s, who, count(*) AS c FROM pings GROUP BY window(n, '1 day'), who ORDER BY s, who;
SELECT window_time(window) AS wt, count(*) FROM pings GROUP BY window(t, '2 hours');
SELECT session_window.start AS s, session_window.end AS e, who, count(*) FROM pings GROUP BY session_window(t, '5 minutes'), who;
SELECT who, session_window(t, '4 hours').end AS e, sum(v) FROM pings WHERE t IS NOT NULL GROUP BY who, session_window(t, '4 hours');
SELECT id, v, sum(v) OVER (ORDER BY t RANGE BETWEEN INTERVAL 5 MINUTES PRECEDING AND CURRENT ROW) AS s FROM pings WHERE t IS NOT NULL;
SELECT id, lead(t) OVER (PARTITION BY who ORDER BY t) - t AS wait FROM pings WHERE who IS NOT NULL;
SELECT a.id, b.id AS bid FROM pings a JOIN pings b ON b.t BETWEEN a.t AND a.t + INTERVAL 1 DAY AND a.id <> b.id;
SELECT id, TIME '10:30:00' AS c, TIME '23:59:59.5' > TIME '10:00:00' AS later FROM pings;
SELECT id, hour(TIME '10:30:15'), minute(TIME '10:30:15') FROM pings WHERE id = 1;
SELECT id, time_trunc('HOUR', TIME '10:31:15') AS h FROM pings WHERE id = 1;
SELECT now() >= t AS past, current_timestamp() = now() AS same, localtimestamp() IS NOT NULL AS l FROM pings;
SELECT id, current_timezone() AS z FROM pings;
SET TIME ZONE 'Europe/Berlin';
SELECT id, hour(t), CAST(t AS DATE), CAST(n AS TIMESTAMP) = t AS same FROM pings;
SELECT CAST(t AS STRING) AS s, count(*) FROM pings GROUP BY t;
SELECT date_trunc('DAY', t) AS d, sum(v) FROM pings GROUP BY 1;
SET TIME ZONE 'UTC';
SET spark.sql.timestampType=TIMESTAMP_NTZ;
SELECT id FROM pings WHERE n = TIMESTAMP '2024-03-31 00:59:59';
SELECT id, CAST('2024-01-01 00:00:00' AS TIMESTAMP) AS c FROM pings WHERE id = 2;
SET spark.sql.timestampType=TIMESTAMP_LTZ;
