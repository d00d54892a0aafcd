-- title: any subquery
SELECT a FROM t WHERE a > ALL (SELECT x FROM l)
-- error
UnsupportedError: ALL (subquery) is not supported at 1:27
  SELECT a FROM t WHERE a > ALL (SELECT x FROM l)
                            ^^^
Use IN or EXISTS as a condition of WHERE.
-- advised
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM l WHERE NOT t.a > l.x OR t.a > l.x IS NULL)

-- title: in compared with constant
SELECT a IN (SELECT x FROM l) = (1 = 0) AS i FROM t
-- error
UnsupportedError: IN (subquery) compared with a constant expression is not supported at 1:34
  ECT a IN (SELECT x FROM l) = (1 = 0) AS i FROM t
                                ^
Write TRUE or FALSE.
-- advised
SELECT (a IN (SELECT x FROM l)) = FALSE AS i FROM t

-- title: in of a call of null
SELECT abs(a + NULL) IN (SELECT x FROM l) AS i FROM t
-- error
UnsupportedError: IN (subquery) of a call of NULL is not supported at 1:8
  SELECT abs(a + NULL) IN (SELECT x FROM l) AS i FROM t
         ^^^
Write NULL if it is NULL.
-- advised
SELECT NULL IN (SELECT x FROM l) AS i FROM t

-- title: in compared with false
SELECT a FROM t WHERE (a IN (SELECT x FROM l)) = false OR NOT (a IN (SELECT x FROM l) OR b = 1)
-- expected
Project: a_2 'a' := `a`
  Filter: (NOT (`found` OR `found_2` OR `found_3`)) OR (NOT (`found` OR `found_2` OR `found_3`) AND NOT (`b` = 1))
    ExistenceJoin found_2: `a` IS NULL
      ExistenceJoin found: `a` = `value`
        ExistenceJoin found_3: `value` IS NULL
          Scan t: a, b
          [1] Aggregate: by (value := `x_2`) compute ()
            Project: x_2 'x' := `x`
              Scan l: x, k, j
        [1] as above
      [1] as above

-- title: in subquery
SELECT model FROM cars WHERE dealer IN (SELECT dealer FROM dealers WHERE rating > 3)
-- expected
Project: model_2 'model' := `model`
  SemiJoin: `dealer` = `dealer_3`
    Scan cars: car_id, model, price, sold, dealer
    Project: dealer_3 'dealer' := `dealer_2`
      Filter: `rating` > 3
        Scan dealers: dealer_2 := dealer, city, rating

-- title: in subquery columns
SELECT a FROM t WHERE (a, b + 1) IN (SELECT x, k FROM l)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `x_2` AND (`b` + 1) = `k_2`
    Scan t: a, b
    Project: x_2 'x' := `x`, k_2 'k' := `k`
      Scan l: x, k, j

-- title: in subquery grouped
SELECT a FROM t WHERE a IN (SELECT k FROM l GROUP BY k HAVING sum(j) > 3)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `k_2`
    Scan t: a, b
    Project: k_2 'k' := `k_3`
      Filter: `sum_j` > 3
        Aggregate: by (k_3 'k' := `k`) compute (sum_j 'SUM(j)' := SUM(`j`))
          Scan l: x, k, j

-- title: in subquery grouped by all
SELECT a FROM t WHERE a IN (SELECT x FROM l WHERE k = t.b GROUP BY ALL)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `x_2` AND `k_2` = `b`
    Scan t: a, b
    Aggregate: by (x_2 'x' := `x`, k_2 'k' := `k`) compute ()
      Scan l: x, k, j

-- title: in subquery grouped having alias
SELECT a FROM t WHERE a IN (SELECT sum(x) AS k FROM l WHERE l.k = t.b GROUP BY j HAVING k > 1)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `sum_x` AND `k_2` = `b`
    Scan t: a, b
    Filter: `sum_x` > 1
      Aggregate: by (j_2 'j' := `j`, k_2 'k' := `k`) compute (sum_x 'SUM(x)' := SUM(`x`))
        Scan l: x, k, j

-- title: in subquery in brackets is scalar
SELECT a FROM t WHERE a IN ((SELECT max(x) FROM l)) AND b IN (1, (SELECT min(x) FROM l))
-- expected
Project: a_2 'a' := `a`
  Filter: `a` IN (`subquery`) AND `b` IN (1, `subquery_2`)
    ScalarSubquery: subquery_2
      ScalarSubquery: subquery
        Scan t: a, b
        Project: max_x 'max(x)' := `max_x_2`
          Aggregate: by () compute (max_x_2 'max(x)' := MAX(`x`))
            Scan l: x, k, j
      Project: min_x 'min(x)' := `min_x_2`
        Aggregate: by () compute (min_x_2 'min(x_2)' := MIN(`x_2`))
          Scan l: x_2 := x, k_2 := k, j_2 := j

-- title: in under or
SELECT a FROM t WHERE a IN (SELECT x FROM l) OR b > 5
-- expected
Project: a_2 'a' := `a`
  Filter: `found` OR `b` > 5
    ExistenceJoin found: `a` = `x_2`
      Scan t: a, b
      Project: x_2 'x' := `x`
        Scan l: x, k, j

-- title: in widths
SELECT a FROM t WHERE a IN (SELECT x, k FROM l)
-- error
QueryError: IN compares 1 with 2 columns at 1:23
  SELECT a FROM t WHERE a IN (SELECT x, k FROM l)
                        ^
Select as many columns as stand before IN.
-- advised
SELECT a FROM t WHERE a IN (SELECT x FROM l)

-- title: not in
SELECT a FROM t
WHERE b > 1 AND a NOT IN (SELECT x FROM l)
-- expected
Project: a_2 'a' := `a`
  AntiJoin: `value` IS NULL
    AntiJoin: `a` IS NULL
      AntiJoin: `a` = `value`
        Filter: `b` > 1
          Scan t: a, b
        [1] Aggregate: by (value := `x_2`) compute ()
          Project: x_2 'x' := `x`
            Scan l: x, k, j
      [1] as above
    [1] as above

-- title: null in subquery
SELECT NULL IN (SELECT x FROM l) AS i FROM t
-- expected
Project: i := CASE WHEN `found` THEN NULL ELSE FALSE END
  ExistenceJoin found
    Scan t: a, b
    Scan l: x, k, j

-- title: in without a bound
SELECT a FROM t WHERE b IN (SELECT r.y FROM r WHERE r.y = t.a OFFSET 0)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b` = `y_3` AND `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: y_3 'y' := `y_2`, a_2_2 'a_2' := `a_2`
      Filter: `y_2` = `a_2`
        InnerJoin
          Scan r: y_2 := y, j_2 := j, k_2 := k
          OuterValues: a_2 'a' := `a`
            [1] as above
