-- title: bitwise precedence
SELECT a | b & c0, a ^ b | c0 & a FROM t
-- expected
SELECT a | b & c0, a ^ b | c0 & a FROM t

-- title: concatenation precedence
SELECT s || a + b FROM t
-- expected
SELECT s || a + b FROM t

-- title: group by column all
SELECT MAX(x) FROM t GROUP BY all
-- expected
SELECT max(x) FROM t GROUP BY all

-- title: is not null
SELECT a IS NOT NULL, NOT a IS NULL FROM t
-- expected
SELECT a IS NOT NULL, NOT a IS NULL FROM t

-- title: qualified star
SELECT * EXCEPT (a), count_ FROM (SELECT *, 1 AS count_ FROM t)
-- expected
SELECT * EXCEPT (a), count_ FROM (SELECT *, 1 AS count_ FROM t)

-- title: recursion level
with recursive r(n) max recursion level 7 as (select 1 union all select n + 1 from r where n < 5), s as (select 2) select * from r, s
-- expected
WITH RECURSIVE r(n) MAX RECURSION LEVEL 7 AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5), s AS (SELECT 2) SELECT * FROM r, s

-- title: shifts
SELECT a << b + 1, a >> 1, a >>> 1, shiftleft(a, 1) FROM t
-- expected
SELECT a << b + 1, a >> 1, a >>> 1, shiftleft(a, 1) FROM t

-- title: time window
SELECT window(ts, '5 minutes') AS w, count(*) FROM t GROUP BY window(ts, '5 minutes')
-- expected
SELECT window(ts, '5 minutes') AS w, COUNT(*) FROM t GROUP BY window(ts, '5 minutes')

-- title: unary plus
SELECT +a, +1 FROM t
-- expected
SELECT positive(a), positive(1) FROM t
