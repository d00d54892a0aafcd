-- Window functions: frames, offsets, ranks, NULLs, named windows.
CREATE OR REPLACE TEMPORARY VIEW tides AS SELECT * FROM VALUES
  (1, NULL, 1L, 1.0D, DATE '2021-03-01', 'a'), (2, 1, 1L, 1.5D, DATE '2021-03-01', 'a'),
  (3, 1, 2L, 2.5D, DATE '2021-03-02', 'a'), (4, 2, 2147483650L, 100.25D, DATE '2021-12-31', 'a'),
  (5, 1, NULL, 1.0D, DATE '2021-03-01', 'b'), (6, 2, 3L, 3.5D, DATE '2021-03-03', 'b'),
  (7, 3, 2147483650L, 100.25D, DATE '2021-12-31', 'b'), (8, NULL, NULL, NULL, NULL, NULL),
  (9, 3, 1L, 1.0D, DATE '2021-03-01', NULL)
  AS tides(id, v, vl, vd, d, port);
CREATE OR REPLACE TEMPORARY VIEW wages AS SELECT * FROM VALUES
  ('ida', 'deck', 84), ('jon', 'deck', 99), ('kai', 'deck', 89), ('lea', 'deck', 70),
  ('mia', 'mess', 81), ('nat', 'mess', 51), ('oli', 'radio', 91), ('pia', 'radio', 94) AS wages(who, dept, pay);
CREATE OR REPLACE TEMPORARY VIEW gaps AS SELECT * FROM VALUES
  (0, NULL), (1, 'x'), (2, NULL), (3, NULL), (4, 'y'), (5, NULL), (6, 'z'), (7, 'v'), (8, NULL) AS gaps(i, s);

SELECT id, port, count(v) OVER (PARTITION BY port ORDER BY v, id ROWS CURRENT ROW) AS c FROM tides ORDER BY id;
SELECT id, sum(v) OVER (PARTITION BY port ORDER BY v, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) AS s FROM tides ORDER BY id;
SELECT id, sum(vl) OVER (PARTITION BY port ORDER BY vl, id ROWS BETWEEN CURRENT ROW AND 2147483647 FOLLOWING) AS s FROM tides;
SELECT id, count(v) OVER (PARTITION BY port ORDER BY v RANGE 1 PRECEDING) AS c FROM tides;
SELECT id, sum(v) OVER (PARTITION BY port ORDER BY v RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) AS s FROM tides;
SELECT id, sum(vl) OVER (PARTITION BY port ORDER BY vl RANGE BETWEEN CURRENT ROW AND 2147483648 FOLLOWING) AS s FROM tides;
SELECT id, sum(vd) OVER (PARTITION BY port ORDER BY vd RANGE BETWEEN CURRENT ROW AND 2.5D FOLLOWING) AS s FROM tides;
SELECT id, max(d) OVER (PARTITION BY port ORDER BY d RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING) AS m FROM tides;
SELECT id, count(*) OVER (ORDER BY CAST(d AS TIMESTAMP) RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS c FROM tides;
SELECT id, sum(v) OVER (PARTITION BY port ORDER BY v DESC RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) AS s FROM tides;
SELECT id, max(v) OVER w AS mx, min(v) OVER w AS mn, count(v) OVER w AS c, sum(v) OVER w AS s, avg(v) OVER w AS a FROM tides WINDOW w AS (PARTITION BY port ORDER BY v);
SELECT id, stddev(v) OVER w AS sd, var_pop(v) OVER w AS vp, var_samp(v) OVER w AS vs, skewness(vd) OVER w AS sk, kurtosis(vd) OVER w AS ku FROM tides WINDOW w AS (PARTITION BY port ORDER BY v, id);
SELECT id, first_value(v) OVER w AS f, first_value(v, true) OVER w AS fi, last_value(v) OVER w AS l, last_value(v, true) OVER w AS li FROM tides WINDOW w AS (PARTITION BY port ORDER BY id);
SELECT id, rank() OVER w AS r, dense_rank() OVER w AS dr, cume_dist() OVER w AS cd, percent_rank() OVER w AS pr FROM tides WINDOW w AS (PARTITION BY port ORDER BY v);
SELECT id, ntile(2) OVER (PARTITION BY port ORDER BY id) AS n, row_number() OVER (PARTITION BY port ORDER BY id DESC) AS rn FROM tides;
SELECT id, covar_pop(v, vl) OVER w AS cp, corr(v, vl) OVER w AS co, approx_count_distinct(v) OVER w AS ac FROM tides WINDOW w AS (PARTITION BY port ORDER BY id);
SELECT id, collect_list(v) OVER (PARTITION BY port ORDER BY id) AS cl FROM tides;
SELECT id, sort_array(collect_set(v) OVER (PARTITION BY port ORDER BY id)) AS cs FROM tides;
SELECT id, avg(NULL) OVER (PARTITION BY port ORDER BY v) AS n FROM tides;
SELECT id, sum(v) OVER () AS s, avg(v) OVER () AS a FROM tides;
SELECT id, first_value(false) OVER w AS f, last_value(true, true) OVER w AS l FROM tides WINDOW w AS ();
SELECT port, sum(v) OVER (w) AS s FROM tides WHERE v IS NOT NULL WINDOW w AS (PARTITION BY port ORDER BY v, id);
SELECT id, count(v) FILTER (WHERE v > 1) OVER (PARTITION BY port) AS c FROM tides ORDER BY id;
SELECT who, first_value(who) OVER w AS top, nth_value(who, 2) OVER w AS second FROM wages WINDOW w AS (ORDER BY pay DESC) ORDER BY pay DESC;
SELECT who, nth_value(who, 2) OVER (ORDER BY pay RANGE BETWEEN 10 PRECEDING AND 5 FOLLOWING) AS n FROM wages ORDER BY pay;
SELECT who, nth_value(who, 3) OVER (ORDER BY pay ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS n FROM wages;
SELECT who, last_value(who) OVER (PARTITION BY dept ORDER BY pay RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM wages;
SELECT who, first_value(pay) OVER (ORDER BY pay DESC RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS f FROM wages;
SELECT i, lead(s) OVER w AS a, lead(s, 2, 'none') OVER w AS b, lag(s) OVER w AS c, lag(s, 3) OVER w AS e FROM gaps WINDOW w AS (ORDER BY i);
SELECT i, lead(s, 1) IGNORE NULLS OVER w AS a, lag(s, 1) IGNORE NULLS OVER w AS b, lag(s, 2) IGNORE NULLS OVER w AS c FROM gaps WINDOW w AS (ORDER BY i);
SELECT i, nth_value(s, 1) IGNORE NULLS OVER w AS a, nth_value(s, 2) IGNORE NULLS OVER w AS b, first_value(s) IGNORE NULLS OVER w AS c FROM gaps WINDOW w AS (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING);
SELECT i, last_value(s) IGNORE NULLS OVER (ORDER BY i RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS filled FROM gaps ORDER BY i;
SELECT i, any_value(s) IGNORE NULLS OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS nxt FROM gaps;
SELECT who, pay - avg(pay) OVER (PARTITION BY dept) AS above FROM wages;
SELECT dept, sum(pay) AS total, rank() OVER (ORDER BY sum(pay) DESC) AS r FROM wages GROUP BY dept;
SELECT dept, sum(sum(pay)) OVER (ORDER BY dept) AS run FROM wages GROUP BY dept;
SELECT * FROM (SELECT who, dept, row_number() OVER (PARTITION BY dept ORDER BY pay DESC) AS r FROM wages) WHERE r = 1;
SELECT who, rank() OVER (ORDER BY pay DESC) AS r FROM wages WHERE dept <> 'mess' ORDER BY r LIMIT 3;
SELECT DISTINCT dept, max(pay) OVER (PARTITION BY dept) AS m FROM wages;
SELECT who, sum(pay) OVER (PARTITION BY dept ORDER BY pay) AS run, sum(pay) OVER (PARTITION BY dept ORDER BY pay) * 100.0 / sum(pay) OVER (PARTITION BY dept) AS pct FROM wages;
SELECT who, max(pay) OVER (PARTITION BY dept ORDER BY who ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS later FROM wages;
SELECT who, min(pay) OVER (PARTITION BY dept ORDER BY who ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS before FROM wages;
SELECT who, percentile_cont(0.5) WITHIN GROUP (ORDER BY pay) OVER (PARTITION BY dept) AS med FROM wages;
SELECT who, median(pay) OVER (PARTITION BY dept) AS m FROM wages;
SELECT dept, who, lag(who) OVER (PARTITION BY dept ORDER BY pay) AS prev FROM wages QUALIFY prev IS NOT NULL;
SELECT w.who, t.c FROM wages w JOIN (SELECT dept, count(*) OVER (PARTITION BY dept) AS c FROM wages) t ON w.dept = t.dept WHERE t.c = 2;
SELECT who FROM wages WHERE pay IN (SELECT max(pay) OVER (PARTITION BY dept) FROM wages);
SELECT who, row_number() OVER (ORDER BY pay % 10, who) AS r FROM wages ORDER BY row_number() OVER (ORDER BY who DESC);
SELECT i, count(s) OVER (ORDER BY i) AS grp, s FROM gaps;
SELECT grp, min(i), max(i) FROM (SELECT i, count(s) OVER (ORDER BY i) AS grp FROM gaps) GROUP BY grp;
SELECT id, sum(v) OVER (PARTITION BY port, v > 1 ORDER BY id) AS s FROM tides;
SELECT dense_rank() OVER (ORDER BY pay DESC) AS r, who FROM wages ORDER BY r, who;
SELECT id, v, sum(v) OVER (ORDER BY v DESC NULLS FIRST, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM tides;
SELECT id, v, sum(v) OVER (ORDER BY v ASC NULLS LAST, id) AS s FROM tides;
SELECT id, row_number() OVER (ORDER BY port) AS n FROM (SELECT id, port FROM tides ORDER BY v NULLS LAST, id DESC) t;
WITH t AS (SELECT who, dept, pay FROM wages ORDER BY pay) SELECT who, collect_list(who) OVER (PARTITION BY dept ORDER BY dept, pay) AS upward FROM t;
