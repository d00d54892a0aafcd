-- title: qualify
SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1
-- expected
Project: a_3 'a' := `a_2`
  Filter: `row_number_2` = 1
    Project: a_2 'a' := `a`, row_number_2 'row_number' := `row_number`
      Windows: row_number := ROW_NUMBER() OVER (ORDER BY `a`)
        Scan t: a, b

-- title: qualify in correlated
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.a = t.a QUALIFY rank() OVER (ORDER BY u.b) = 1)
-- expected
Project: a_5 'a' := `a`
  SemiJoin: `a_3_3` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1_2 '1' := `_1`, a_3_3 'a_3' := `a_3_2`
      Filter: `rank_2` = 1
        Project: _1 '1' := 1, a_3_2 'a_3' := `a_3`, rank_2 'rank' := `rank`
          Windows: rank := RANK() OVER (PARTITION BY `a_3` ORDER BY `b_4`)
            Filter: `a_4` = `a_3`
              InnerJoin
                Scan t: a_4 := a, b_4 := b
                OuterValues: a_3 'a' := `a`
                  [1] as above

-- title: qualify of groups
SELECT DISTINCT a + 1 AS c FROM t GROUP BY a QUALIFY rank() OVER (ORDER BY sum(b)) <= 2 AND c > 0
-- expected
Aggregate: by (c_3 'c' := `c_2`) compute ()
  Project: c_2 'c' := `c`
    Filter: `rank_2` <= 2 AND (`a_3` + 1) > 0
      Project: c := `a_2` + 1, rank_2 'rank' := `rank`, a_3 'a' := `a_2`
        Windows: rank := RANK() OVER (ORDER BY `sum_b`)
          Aggregate: by (a_2 'a' := `a`) compute (sum_b 'SUM(b)' := SUM(`b`))
            Scan t: a, b

-- title: window clause in dependent subquery
SELECT a, (SELECT sum(x) OVER w FROM l WHERE l.k > t.a WINDOW w AS (PARTITION BY j)) AS m FROM t
-- error
UnsupportedError: WINDOW in a subquery that refers to the outer query is not supported at 1:56
  OVER w FROM l WHERE l.k > t.a WINDOW w AS (PARTITION BY j)) 
                                ^^^^^^
Write the window after OVER.
-- advised
SELECT a, (SELECT sum(x) OVER (PARTITION BY j) FROM l WHERE l.k > t.a) AS m FROM t

-- title: window function
SELECT a, approx_top_k(b) OVER (PARTITION BY a) AS s FROM t
-- error
UnsupportedError: window function approx_top_k is not supported at 1:11
  SELECT a, approx_top_k(b) OVER (PARTITION BY a) AS s FROM t
            ^^^^^^^^^^^^
Use a ranking or offset function, or an aggregate such as SUM.
-- advised
SELECT a, sum(b) OVER (PARTITION BY a) AS s FROM t

-- title: window in correlated
SELECT a FROM t WHERE b IN (SELECT rank() OVER (ORDER BY u.b) FROM t AS u WHERE u.a = t.a)
-- expected
Project: a_5 'a' := `a`
  SemiJoin: `b` = `rank_over_partition_by_outer_row_a_3_out` AND `a_3_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: rank_over_partition_by_outer_row_a_3_out 'rank() OVER (PARTITION BY `outer row`.`a_3`, `outer row`.`b_3` ORDER BY u.b)' := `rank`, a_3_2 'a_3' := `a_3`
      Windows: rank := RANK() OVER (PARTITION BY `a_3` ORDER BY `b_4`)
        Filter: `a_4` = `a_3`
          InnerJoin
            Scan t: a_4 := a, b_4 := b
            OuterValues: a_3 'a' := `a`
              [1] as above

-- title: window in exists
SELECT a FROM t WHERE EXISTS (SELECT row_number() OVER (ORDER BY y) FROM r WHERE r.k = t.a)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k` = `a`
    Scan t: a, b
    Scan r: y, j, k

-- title: window in order by
SELECT a + 1 AS c FROM t ORDER BY row_number() OVER (PARTITION BY c ORDER BY b) DESC, c
-- error
UnsupportedError: a window function (OVER) cannot stand here at 1:48
   FROM t ORDER BY row_number() OVER (PARTITION BY c ORDER BY 
                                ^^^^
Compute it in a derived table and refer to its column.
-- advised
SELECT c FROM (SELECT a + 1 AS c, row_number() OVER (PARTITION BY a + 1 ORDER BY b) AS n FROM t) ORDER BY n DESC, c

-- title: window in where
SELECT a FROM t WHERE rank() OVER (ORDER BY a) = 1
-- error
UnsupportedError: a window function (OVER) cannot stand here at 1:30
  SELECT a FROM t WHERE rank() OVER (ORDER BY a) = 1
                               ^^^^
Compute it in a derived table and refer to its column.
-- advised
SELECT a FROM (SELECT a, rank() OVER (ORDER BY a) AS k FROM t) WHERE k = 1

-- title: window not known
SELECT rank() OVER w FROM t WINDOW v AS (ORDER BY a)
-- error
QueryError: window w is not known at 1:8
  SELECT rank() OVER w FROM t WINDOW v AS (ORDER BY a)
         ^^^^
Define it in the WINDOW clause.
-- advised
SELECT rank() OVER v FROM t WINDOW v AS (ORDER BY a)

-- title: window without over
SELECT rank() FROM t
-- error
UnsupportedError: window function rank without OVER at 1:8
  SELECT rank() FROM t
         ^^^^
Say over which rows: OVER (PARTITION BY ... ORDER BY ...).
-- advised
SELECT rank() OVER (PARTITION BY b ORDER BY a) FROM t

-- title: windows
SELECT a,
  sum(b) OVER (PARTITION BY a) AS s,
  rank() OVER (ORDER BY b DESC NULLS LAST) AS r,
  lag(b, 2, 0) IGNORE NULLS OVER (PARTITION BY a ORDER BY b) AS l,
  b - avg(b) OVER (PARTITION BY a ORDER BY b ROWS 2 PRECEDING) AS d,
  mean(b) OVER (ORDER BY b RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING) AS m,
  s + 1 AS t
FROM t
-- expected
Project: a_2 'a' := `a`, s := `sum`, r := `rank`, l := `lag`, d := `b` - `avg`, m := `avg_2`, t := `sum` + 1
  Windows: sum := SUM(`b`) OVER (PARTITION BY `a`), rank := RANK() OVER (ORDER BY `b` DESC), lag := LAG(`b`, 2, 0) IGNORE NULLS OVER (PARTITION BY `a` ORDER BY `b`), avg := AVG(`b`) OVER (PARTITION BY `a` ORDER BY `b` ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), avg_2 'avg' := AVG(`b`) OVER (ORDER BY `b` RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)
    Scan t: a, b

-- title: windows and order by
SELECT a, rank() OVER (ORDER BY b) AS r FROM t ORDER BY r + 1, a DESC LIMIT 2
-- expected
Limit: 2 offset 0
  Sort: `r` + 1 ASC NULLS FIRST, `a_2` DESC NULLS LAST
    Project: a_2 'a' := `a`, r := `rank`
      Windows: rank := RANK() OVER (ORDER BY `b`)
        Scan t: a, b

-- title: windows distinct
SELECT DISTINCT a, count(*) OVER (PARTITION BY a) AS n FROM t ORDER BY n
-- expected
Sort: `n_2` ASC NULLS FIRST
  Aggregate: by (a_3 'a' := `a_2`, n_2 'n' := `n`) compute ()
    Project: a_2 'a' := `a`, n := `count`
      Windows: count := COUNT(*) OVER (PARTITION BY `a`)
        Scan t: a, b

-- title: windows in view
SELECT s FROM windowed
-- expected
Project: s_3 's' := `s_2`
  Project: a_3 'a' := `a_2`, s_2 's' := `s`
    Project: a_2 'a' := `a`, s := `sum`
      Windows: sum := SUM(`b`) OVER (PARTITION BY `a`)
        Scan t: a, b

-- title: windows named
SELECT first_value(a) OVER w, count(*) OVER (V)
FROM t
WINDOW w AS (PARTITION BY a ORDER BY b), v AS w
-- expected
Project: first_value_a_over_partition_by_a_order 'first_value(a) OVER (PARTITION BY a ORDER BY b)' := `first_value`, count_over_partition_by_a_order_by_b 'COUNT(*) OVER (PARTITION BY a ORDER BY b)' := `count`
  Windows: first_value := FIRST_VALUE(`a`) OVER (PARTITION BY `a` ORDER BY `b`), count := COUNT(*) OVER (PARTITION BY `a` ORDER BY `b`)
    Scan t: a, b

-- title: windows of groups
SELECT a, sum(b) AS s, sum(sum(b)) OVER (PARTITION BY a % 2) AS total, rank() OVER (ORDER BY sum(b), count(*)) AS r
FROM t
GROUP BY a
HAVING count(*) > 1
-- expected
Project: a_2 'a' := `a_3`, s := `sum_b`, total := `sum`, r := `rank`
  Windows: sum := SUM(`sum_b`) OVER (PARTITION BY `a_3` % 2), rank := RANK() OVER (ORDER BY `sum_b`, `count`)
    Filter: `count` > 1
      Aggregate: by (a_3 'a' := `a`) compute (sum_b 'SUM(b)' := SUM(`b`), count 'COUNT(*)' := COUNT(*))
        Scan t: a, b

-- title: windows of one group
SELECT rank() OVER (ORDER BY max(b)) AS r FROM t
-- expected
Project: r := `rank`
  Windows: rank := RANK() OVER (ORDER BY `max_b`)
    Aggregate: by () compute (max_b 'max(b)' := MAX(`b`))
      Scan t: a, b

-- title: windows with subquery
SELECT sum(b + (SELECT max(a) FROM t)) OVER (ORDER BY a) AS s FROM t
-- expected
Project: s := `sum`
  Windows: sum := SUM(`b` + `subquery`) OVER (ORDER BY `a`)
    ScalarSubquery: subquery
      Scan t: a, b
      Project: max_a 'max(a)' := `max_a_2`
        Aggregate: by () compute (max_a_2 'max(a_2)' := MAX(`a_2`))
          Scan t: a_2 := a, b_2 := b
