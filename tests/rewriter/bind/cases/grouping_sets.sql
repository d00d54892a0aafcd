-- title: correlation below grouping
SELECT a FROM t WHERE a IN (SELECT max(x) FROM l WHERE k = t.b)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a` = `max_x` AND `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: max_x 'max(x)' := `max_x_2`, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (b_2_3 'b_2' := `b_2`) compute (max_x_2 'max(x_2)' := MAX(`x_2`) FILTER(WHERE `there`))
        UnionAll: x_2 'x', b_2 'b', there
          Project: x_2 'x' := `x_2`, b_2 'b' := `b_2`, there := TRUE
            Filter: `k_2` = `b_2`
              InnerJoin
                Scan l: x_2 := x, k_2 := k, j_2 := j
                [2] OuterValues: b_2 'b' := `b`
                  [1] as above
          Project: x_2 'x' := NULL, b_2 'b' := `b_2`, there := FALSE
            [2] as above

-- title: grouping in having
SELECT a, sum(b) AS s FROM t GROUP BY ROLLUP (a) HAVING grouping(a) = 1 OR s > 2 ORDER BY grouping(a), a
-- expected
Project: a_4 'a' := `a_2`, s_2 's' := `s`
  Sort: CASE WHEN `grouping_set_2` IN (1) THEN 1Y ELSE 0Y END ASC NULLS FIRST, `a_2` ASC NULLS FIRST
    Project: a_2 'a' := `a_3`, s := `sum_b`, grouping_set_2 'grouping_set' := `grouping_set`
      Filter: CASE WHEN `grouping_set` IN (1) THEN 1Y ELSE 0Y END = 1 OR `sum_b` > 2
        Aggregate: by (a_3 'a' := `a`) in sets ((a_3), ()) as grouping_set compute (sum_b 'SUM(b)' := SUM(`b`))
          Scan t: a, b

-- title: grouping of other
SELECT grouping(b) FROM t GROUP BY ROLLUP (a)
-- error
QueryError: grouping of what is not grouped by at 1:8
  SELECT grouping(b) FROM t GROUP BY ROLLUP (a)
         ^^^^^^^^
Give it an expression of GROUP BY.
-- advised
SELECT grouping(a) FROM t GROUP BY ROLLUP (a)

-- title: grouping sets
SELECT a + 1 AS c, b, sum(a) AS s FROM t GROUP BY GROUPING SETS ((a + 1, b), (b), (), b)
-- expected
Project: c := `a_1`, b_2 'b' := `b_3`, s := `sum_a`
  Aggregate: by (a_1 'a + 1' := `a` + 1, b_3 'b' := `b`) in sets ((a_1, b_3), (b_3), (), (b_3)) as grouping_set compute (sum_a 'SUM(a)' := SUM(`a`))
    Scan t: a, b

-- title: grouping sets correlated
SELECT dealer FROM dealers AS d WHERE EXISTS (SELECT 1 FROM cars AS c WHERE c.dealer = d.dealer GROUP BY ROLLUP (c.model) HAVING count(*) > 1)
-- expected
Project: dealer_4 'dealer' := `dealer`
  SemiJoin: `dealer_3` = `dealer`
    Scan dealers: dealer, city, rating
    Filter: `count` > 1
      Aggregate: by (model_2 'model' := `model`, dealer_3 'dealer' := `dealer_2`) in sets ((model_2, dealer_3), (dealer_3)) as grouping_set compute (count 'COUNT(*)' := COUNT(*))
        Scan cars: car_id, model, price, sold, dealer_2 := dealer

-- title: grouping sets in dependent subquery
SELECT a, (SELECT max(x) FROM l WHERE l.k > t.a GROUP BY ROLLUP (j) LIMIT 1) AS m FROM t
-- error
UnsupportedError: grouping sets in a subquery that refers to the outer query are not supported at 1:66
  RE l.k > t.a GROUP BY ROLLUP (j) LIMIT 1) AS m FROM t
                                ^
Group by one set of keys.
-- advised
SELECT a, (SELECT max(x) FROM l WHERE l.k > t.a GROUP BY j LIMIT 1) AS m FROM t

-- title: grouping sets multiplied
SELECT model, dealer, sold, count(*) AS n FROM cars GROUP BY model, CUBE (dealer), ROLLUP ((model, sold), 2)
-- expected
Project: model_2 'model' := `model_3`, dealer_2 'dealer' := `dealer_3`, sold_2 'sold' := `sold_3`, n := `count`
  Aggregate: by (model_3 'model' := `model`, dealer_3 'dealer' := `dealer`, sold_3 'sold' := `sold`) in sets ((model_3, dealer_3, sold_3), (model_3, dealer_3, sold_3), (model_3, dealer_3), (model_3, dealer_3, sold_3), (model_3, sold_3), (model_3)) as grouping_set compute (count 'COUNT(*)' := COUNT(*))
    Scan cars: car_id, model, price, sold, dealer

-- title: grouping sets nested
SELECT a, b FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (b), (a, b))
-- expected
Project: a_2 'a' := `a_3`, b_2 'b' := `b_3`
  Aggregate: by (a_3 'a' := `a`, b_3 'b' := `b`) in sets ((a_3, b_3), (a_3), (), (b_3), (), (a_3, b_3)) as grouping_set compute ()
    Scan t: a, b

-- title: grouping sets of nothing
SELECT count(*) AS n FROM t GROUP BY GROUPING SETS (())
-- expected
Project: n := `count`
  Aggregate: by () compute (count 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: grouping sets suffix
SELECT a, b, grouping(b) AS g FROM t GROUP BY a, b GROUPING SETS ((b), (a))
-- expected
Project: a_2 'a' := `a_3`, b_2 'b' := `b_3`, g := CASE WHEN `grouping_set` IN (1) THEN 1Y ELSE 0Y END
  Aggregate: by (a_3 'a' := `a`, b_3 'b' := `b`) in sets ((b_3), (a_3)) as grouping_set compute ()
    Scan t: a, b

-- title: grouping without sets
SELECT grouping(a) FROM t GROUP BY a
-- error
QueryError: grouping without grouping sets at 1:8
  SELECT grouping(a) FROM t GROUP BY a
         ^^^^^^^^
Use it with ROLLUP, CUBE or GROUPING SETS.
-- advised
SELECT grouping(a) FROM t GROUP BY ROLLUP (a)

-- title: rollup
SELECT a, b, count(*) AS n, grouping_id() AS g FROM t GROUP BY ROLLUP (a, b)
-- expected
Project: a_2 'a' := `a_3`, b_2 'b' := `b_3`, n := `count`, g := CASE `grouping_set` WHEN 0 THEN 0L WHEN 1 THEN 1L ELSE 3L END
  Aggregate: by (a_3 'a' := `a`, b_3 'b' := `b`) in sets ((a_3, b_3), (a_3), ()) as grouping_set compute (count 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: rollup of conditions
SELECT a IS NULL AS n, count(*) AS c FROM t GROUP BY ROLLUP (a IS NULL, b IN ('x'))
-- expected
Project: n := `a_is_null`, c := `count`
  Aggregate: by (a_is_null 'a IS NULL' := `a` IS NULL, b_in_x 'b IN ('x')' := `b` IN ('x')) in sets ((a_is_null, b_in_x), (a_is_null), ()) as grouping_set compute (count 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: with cube
SELECT a, b FROM t GROUP BY a, b WITH CUBE
-- expected
Project: a_2 'a' := `a_3`, b_2 'b' := `b_3`
  Aggregate: by (a_3 'a' := `a`, b_3 'b' := `b`) in sets ((a_3, b_3), (a_3), (b_3), ()) as grouping_set compute ()
    Scan t: a, b

-- title: grouping id of everything
SELECT grouping_id() AS g, count(*) AS n FROM t GROUP BY GROUPING SETS (())
-- expected
Project: g := 0L, n := `count`
  Aggregate: by () compute (count 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: grouping id as a column
SELECT a, grouping__id FROM t GROUP BY ROLLUP (a)
-- expected
Project: a_2 'a' := `a_3`, grouping__id := CASE `grouping_set` WHEN 0 THEN 0L ELSE 1L END
  Aggregate: by (a_3 'a' := `a`) in sets ((a_3), ()) as grouping_set compute ()
    Scan t: a, b
