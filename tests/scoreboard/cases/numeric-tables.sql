-- Numbers as database textbooks test them: every pair of a list, by tables of operands and results.
CREATE TEMPORARY VIEW nums AS SELECT * FROM VALUES
  (0, 0.0BD), (1, -34338492.2154BD), (2, 4.31BD), (3, 7799461.4119BD), (4, 16397.0384BD), (5, 93901.5776BD),
  (6, -83028485.0BD), (7, 74881.0BD), (8, NULL) AS nums(id, v);
CREATE TEMPORARY VIEW halves AS SELECT * FROM VALUES
  (1, CAST(0.0 AS DOUBLE)), (2, 1004.3D), (3, -34.84D), (4, 1.2345678901234E200D), (5, 1.2345678901234E-200D),
  (6, CAST('NaN' AS DOUBLE)), (7, CAST('-Infinity' AS DOUBLE)), (8, NULL) AS halves(id, f);
CREATE TEMPORARY VIEW wholes AS SELECT * FROM VALUES
  (1, 0S, 0, 0L), (2, 1234S, 123456, 4567890123456789L), (3, -1234S, -123456, -4567890123456789L),
  (4, 32767S, 2147483647, 9223372036854775807L), (5, -32767S, -2147483647, NULL) AS wholes(id, s, i, b);

SELECT x.id, y.id AS other, x.v + y.v AS sum FROM nums x, nums y WHERE x.id < 4 AND y.id < 4;
SELECT x.id, y.id AS other, x.v * y.v AS product FROM nums x JOIN nums y ON x.id <> y.id;
SELECT x.id, y.id AS other, x.v / y.v AS share FROM nums x JOIN nums y ON y.v <> 0 WHERE x.id BETWEEN 2 AND 6;
SELECT id, try_divide(v, 0), try_add(v, v), abs(v), -v, sign(v) FROM nums;
SELECT id, round(v, 1), round(v, -3), bround(v, 0), ceil(v), floor(v), CAST(v AS INT) FROM nums;
SELECT id, sqrt(abs(v)) AS r, ln(abs(v) + 1) AS l, power(v, 0) AS p FROM nums;
SELECT avg(v), sum(v), max(v), min(v), count(v), stddev(v), variance(v) FROM nums;
SELECT sign(v) AS s, sum(v) AS t, avg(v) AS a FROM nums GROUP BY sign(v);
SELECT id, v % 7 AS m, pmod(v, 7) AS p, v DIV 1000 AS d FROM nums;
SELECT id, width_bucket(v, -1E8, 1E8, 10) AS w FROM nums;
SELECT id, to_char(v, '999,999,999.99') AS t FROM nums WHERE abs(v) < 100000;
SELECT id, CAST(v AS DECIMAL(12, 2)) AS d, CAST(CAST(v AS STRING) AS DECIMAL(20, 4)) = v AS same FROM nums;
SELECT x.id FROM nums x WHERE x.v > (SELECT avg(y.v) FROM nums y);
SELECT x.id, (SELECT count(*) FROM nums y WHERE y.v < x.v) AS below FROM nums x;
SELECT id, f, f * -10 AS t, f + 1 AS p FROM halves;
SELECT id FROM halves WHERE f = CAST('NaN' AS DOUBLE);
SELECT id FROM halves WHERE f < 1004.3 OR f > 1004.3;
SELECT id, f IS NULL, isnan(f), nanvl(f, 0) FROM halves ORDER BY f DESC, id;
SELECT max(f), min(f), count(DISTINCT f) FROM halves;
SELECT f, count(*) FROM halves GROUP BY f;
SELECT id, exp(ln(f)) AS e FROM halves WHERE f > 0 AND f < 1E100;
SELECT id, cbrt(f), trunc('2026-05-05', 'MM'), rint(f), signum(f) FROM halves WHERE abs(f) < 1E6;
SELECT id, s + CAST(i AS BIGINT), i * 2L, b DIV 2, s % 7, b - b FROM wholes;
SELECT id, i / s FROM wholes WHERE s <> 0;
SELECT id, try_add(i, i) AS a, try_multiply(b, 2) AS m, try_subtract(s, 32767S) AS t FROM wholes;
SELECT id, i & 255, i | 1, i ^ 7, ~s, shiftleft(i, 2), shiftright(b, 3) FROM wholes;
SELECT id, CAST(i AS DOUBLE), CAST(i AS STRING), CAST(i AS DECIMAL(12, 1)) FROM wholes;
SELECT sum(i), sum(CAST(s AS BIGINT)), avg(s) FROM wholes;
SELECT id, hex(i), bin(s), conv(CAST(s AS STRING), 10, 16), bit_count(i) FROM wholes;
SELECT id, greatest(s, i), least(i, b), coalesce(b, i) FROM wholes;
SELECT id FROM wholes WHERE b IN (SELECT b FROM wholes WHERE s > 0);
SELECT id, rank() OVER (ORDER BY i) AS r, sum(s) OVER (ORDER BY id ROWS 1 PRECEDING) AS w FROM wholes;
