-- title: aggregate of subquery
SELECT sum(a * (SELECT max(k) FROM l)) FROM t
-- expected
Project: sum_a_select_max_k_from_l 'SUM(a * (SELECT max(k) FROM l))' := `sum_a_subquery`
  Aggregate: by () compute (sum_a_subquery 'SUM(a * subquery)' := SUM(`a` * `subquery`))
    ScalarSubquery: subquery
      Scan t: a, b
      Project: max_k 'max(k)' := `max_k_2`
        Aggregate: by () compute (max_k_2 'max(k)' := MAX(`k`))
          Scan l: x, k, j

-- title: group by scalar subquery
SELECT a + (SELECT max(k) FROM l) AS c, (SELECT max(k) FROM l) AS m
FROM t GROUP BY a + (SELECT max(k) FROM l)
-- expected
Project: c := `a_select_max_k_from_l`, m := `subquery_2`
  ScalarSubquery: subquery_2
    Aggregate: by (a_select_max_k_from_l 'a + (SELECT max(k) FROM l)' := `a` + `subquery`) compute ()
      ScalarSubquery: subquery
        Scan t: a, b
        [1] Project: max_k 'max(k)' := `max_k_2`
          Aggregate: by () compute (max_k_2 'max(k)' := MAX(`k`))
            Scan l: x, k, j
    [1] as above

-- title: having subqueries
SELECT a FROM t GROUP BY a
HAVING sum(b) > (SELECT max(k) FROM l) AND a IN (SELECT x FROM l)
  AND EXISTS (SELECT 1 FROM r WHERE r.k > t.a)
-- expected
Project: a_2 'a' := `a_3`
  SemiJoin: `k_3` > `a_3`
    SemiJoin: `a_3` = `x_3`
      Filter: `sum_b` > `subquery`
        ScalarSubquery: subquery
          Aggregate: by (a_3 'a' := `a`) compute (sum_b 'SUM(b)' := SUM(`b`))
            Scan t: a, b
          Project: max_k 'max(k)' := `max_k_2`
            Aggregate: by () compute (max_k_2 'max(k)' := MAX(`k`))
              Scan l: x, k, j
      Project: x_3 'x' := `x_2`
        Scan l: x_2 := x, k_2 := k, j_2 := j
    Scan r: y, j_3 := j, k_3 := k

-- title: limit of expression in dependent subquery
SELECT a FROM t WHERE a IN (SELECT x FROM l WHERE l.k = t.b LIMIT 1 + 1)
-- error
UnsupportedError: LIMIT of an expression is not supported at 1:61
  LECT x FROM l WHERE l.k = t.b LIMIT 1 + 1)
                                ^^^^^
Give a number, or a parameter.
-- advised
SELECT a FROM t WHERE a IN (SELECT x FROM l WHERE l.k = t.b LIMIT 2)

-- title: order by scalar subquery
SELECT a FROM t ORDER BY (SELECT max(x) FROM l), a
-- expected
Project: a_3 'a' := `a_2`
  Sort: `subquery_2` ASC NULLS FIRST, `a_2` ASC NULLS FIRST
    Project: a_2 'a' := `a`, subquery_2 'subquery' := `subquery`
      ScalarSubquery: subquery
        Scan t: a, b
        Project: max_x 'max(x)' := `max_x_2`
          Aggregate: by () compute (max_x_2 'max(x)' := MAX(`x`))
            Scan l: x, k, j

-- title: scalar subquery of two columns dependent
SELECT a, (SELECT x, k FROM l WHERE l.k > t.a LIMIT 1) AS m FROM t
-- error
QueryError: a scalar subquery has one column, not 2 at 1:19
  SELECT a, (SELECT x, k FROM l WHERE l.k > t.a LIMIT 1) AS m 
                    ^
Select the column that is meant.
-- advised
SELECT a, (SELECT x FROM l WHERE l.k > t.a LIMIT 1) AS m FROM t

-- title: scalar subquery twice is one
SELECT (SELECT max(x) FROM l) + a, b / (SELECT max(x) FROM l) FROM t
-- expected
Project: select_max_x_from_l_a '(SELECT max(x) FROM l) + a' := `subquery` + `a`, b_select_max_x_from_l 'b / (SELECT max(x) FROM l)' := `b` / `subquery`
  ScalarSubquery: subquery
    Scan t: a, b
    Project: max_x 'max(x)' := `max_x_2`
      Aggregate: by () compute (max_x_2 'max(x)' := MAX(`x`))
        Scan l: x, k, j

-- title: scalar subquery width
SELECT (SELECT x, k FROM l) FROM t
-- error
QueryError: a scalar subquery has one column, not 2 at 1:16
  SELECT (SELECT x, k FROM l) FROM t
                 ^
Select the column that is meant.
-- advised
SELECT (SELECT max(x) FROM l) FROM t

-- title: subquery in values
SELECT * FROM VALUES (1, (SELECT max(a) FROM t)) AS v(x, y)
-- error
UnsupportedError: a subquery in VALUES is not supported at 1:34
  ECT * FROM VALUES (1, (SELECT max(a) FROM t)) AS v(x, y)
                                ^^^
Join with the subquery instead.
-- advised
SELECT x, m AS y FROM VALUES (1) AS v(x) CROSS JOIN (SELECT max(a) AS m FROM t)

-- title: where scalar subquery
SELECT a FROM t WHERE b = (SELECT max(b) FROM t)
-- expected
Project: a_3 'a' := `a`
  Filter: `b` = `subquery`
    ScalarSubquery: subquery
      Scan t: a, b
      Project: max_b 'max(b)' := `max_b_2`
        Aggregate: by () compute (max_b_2 'max(b_2)' := MAX(`b_2`))
          Scan t: a_2 := a, b_2 := b

-- title: scalar without a bound
SELECT a, (SELECT r.y FROM r WHERE r.y = t.a LIMIT ALL) AS y FROM t
-- expected
Project: a_3 'a' := `a`, y_5 'y' := `subquery`
  CorrelatedScalar subquery: y_4 of `a` <=> a_2_3
    [1] Scan t: a, b
    Aggregate: by (a_2_3 'a_2' := `a_2_2`) compute (y_4 'y' := MAX(`y_3`), rows := COUNT(*))
      Project: y_3 'y' := `y_2`, a_2_2 'a_2' := `a_2`
        Filter: `y_2` = `a_2`
          InnerJoin
            Scan r: y_2 := y, j_2 := j, k_2 := k
            OuterValues: a_2 'a' := `a`
              [1] as above
