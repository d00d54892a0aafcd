-- title: asof join
SELECT x FROM l ASOF JOIN r ON l.x >= r.y
-- error
UnsupportedError: ASOF JOIN is not supported at 1:27
  SELECT x FROM l ASOF JOIN r ON l.x >= r.y
                            ^
Joins with ON, USING and NATURAL have rules.
-- advised
SELECT l.x, max_by(r.k, r.y) AS k FROM l JOIN r ON l.x >= r.y GROUP BY l.x

-- title: full outer join
SELECT a FROM t FULL JOIN l ON a = x
-- expected
Project: a_2 'a' := `a`
  FullOuterJoin: `a` = `x`
    Scan t: a, b
    Scan l: x, k, j

-- title: full outer join using
SELECT k, x, y FROM l FULL JOIN r USING (k)
-- expected
Project: k_4 'k' := `k_3`, x_2 'x' := `x`, y_2 'y' := `y`
  Project: x := `x`, k := `k`, j := `j`, y := `y`, j_2 'j' := `j_2`, k_2 'k' := `k_2`, k_3 'k' := COALESCE(`k`, `k_2`)
    FullOuterJoin: `k` = `k_2`
      Scan l: x, k, j
      Scan r: y, j_2 := j, k_2 := k

-- title: join brackets
SELECT t.a, r.y FROM t JOIN (l JOIN r ON l.k = r.k) ON t.a = l.x
-- expected
Project: a_2 'a' := `a`, y_2 'y' := `y`
  InnerJoin: `a` = `x`
    Scan t: a, b
    InnerJoin: `k` = `k_2`
      Scan l: x, k, j
      Scan r: y, j_2 := j, k_2 := k

-- title: join brackets alias
SELECT z.a, z.x FROM (t CROSS JOIN l) AS z
-- expected
Project: a_2 'a' := `a`, x_2 'x' := `x`
  InnerJoin
    Scan t: a, b
    Scan l: x, k, j

-- title: join comma
SELECT model, city FROM cars, dealers AS d WHERE cars.dealer = d.dealer
-- expected
Project: model_2 'model' := `model`, city_2 'city' := `city`
  Filter: `dealer` = `dealer_2`
    InnerJoin
      Scan cars: car_id, model, price, sold, dealer
      Scan dealers: dealer_2 := dealer, city, rating

-- title: join comma then join
SELECT * FROM t, l JOIN r ON t.a = r.k
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`, x_2 'x' := `x`, k_3 'k' := `k`, j_3 'j' := `j`, y_2 'y' := `y`, j_4 'j' := `j_2`, k_4 'k' := `k_2`
  InnerJoin: `a` = `k_2`
    InnerJoin
      Scan t: a, b
      Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: join condition scalar subquery
SELECT a FROM t JOIN l ON x > (SELECT avg(y) FROM r)
-- expected
Project: a_2 'a' := `a`
  InnerJoin: `x` > `subquery`
    ScalarSubquery: subquery
      Scan t: a, b
      Project: avg_y 'AVG(y)' := `avg_y_2`
        Aggregate: by () compute (avg_y_2 'AVG(y)' := AVG(`y`))
          Scan r: y, j_2 := j, k_2 := k
    Scan l: x, k, j

-- title: join inner
SELECT model, city FROM cars JOIN dealers ON cars.dealer = dealers.dealer AND price > 10
-- expected
Project: model_2 'model' := `model`, city_2 'city' := `city`
  InnerJoin: `dealer` = `dealer_2` AND `price` > 10
    Scan cars: car_id, model, price, sold, dealer
    Scan dealers: dealer_2 := dealer, city, rating

-- title: join natural
SELECT * FROM l NATURAL JOIN r
-- expected
Project: k_3 'k' := `k`, j_3 'j' := `j`, x_2 'x' := `x`, y_2 'y' := `y`
  InnerJoin: `k` = `k_2` AND `j` = `j_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: join natural after comma
SELECT * FROM r, t NATURAL JOIN l
-- expected
Project: j_3 'j' := `j`, k_3 'k' := `k`, y_2 'y' := `y`, a_2 'a' := `a`, b_2 'b' := `b`, x_2 'x' := `x`
  InnerJoin: `j` = `j_2` AND `k` = `k_2`
    InnerJoin
      Scan r: y, j, k
      Scan t: a, b
    Scan l: x, k_2 := k, j_2 := j

-- title: join natural nothing common
SELECT * FROM t NATURAL JOIN dealers
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`, dealer_2 'dealer' := `dealer`, city_2 'city' := `city`, rating_2 'rating' := `rating`
  InnerJoin
    Scan t: a, b
    Scan dealers: dealer, city, rating

-- title: join self
SELECT x.a, y.b FROM t AS x JOIN t AS y ON x.a = y.a
-- expected
Project: a_3 'a' := `a`, b_3 'b' := `b_2`
  InnerJoin: `a` = `a_2`
    Scan t: a, b
    Scan t: a_2 := a, b_2 := b

-- title: join using
SELECT * FROM l JOIN r USING (k)
-- expected
Project: k_3 'k' := `k`, x_2 'x' := `x`, j_3 'j' := `j`, y_2 'y' := `y`, j_4 'j' := `j_2`
  InnerJoin: `k` = `k_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: join using chain
SELECT *, z.k FROM l JOIN r USING (k) JOIN (SELECT 2 AS k, 9 AS q) AS z USING (k)
-- expected
Project: k_4 'k' := `k`, x_2 'x' := `x`, j_3 'j' := `j`, y_2 'y' := `y`, j_4 'j' := `j_2`, q_2 'q' := `q`, k_5 'k' := `k_3`
  InnerJoin: `k` = `k_3`
    InnerJoin: `k` = `k_2`
      Scan l: x, k, j
      Scan r: y, j_2 := j, k_2 := k
    Project: k_3 'k' := 2, q := 9
      OneRow

-- title: join using qualified
SELECT k, l.k, r.k, r.*, l.* FROM l JOIN r USING (k, j)
-- expected
Project: k_3 'k' := `k`, k_4 'k' := `k`, k_5 'k' := `k_2`, k_6 'k' := `k_2`, j_3 'j' := `j_2`, y_2 'y' := `y`, k_7 'k' := `k`, j_4 'j' := `j`, x_2 'x' := `x`
  InnerJoin: `k` = `k_2` AND `j` = `j_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: left anti join
SELECT a FROM t LEFT ANTI JOIN l ON a = x
-- expected
Project: a_2 'a' := `a`
  AntiJoin: `a` = `x`
    Scan t: a, b
    Scan l: x, k, j

-- title: left outer join
SELECT model, city
FROM cars
  LEFT JOIN dealers ON cars.dealer = dealers.dealer
-- expected
Project: model_2 'model' := `model`, city_2 'city' := `city`
  LeftOuterJoin: `dealer` = `dealer_2`
    Scan cars: car_id, model, price, sold, dealer
    Scan dealers: dealer_2 := dealer, city, rating

-- title: natural ambiguous
SELECT 1 FROM (SELECT a, b AS a FROM t) l2 NATURAL JOIN t
-- error
QueryError: column a is ambiguous at 1:44
   (SELECT a, b AS a FROM t) l2 NATURAL JOIN t
                                ^^^^^^^
Write the join's condition with ON.
-- advised
SELECT 1 FROM (SELECT a, b AS c FROM t) l2 JOIN t ON l2.a = t.a

-- title: natural left join
SELECT * FROM l NATURAL LEFT JOIN r
-- expected
Project: k_3 'k' := `k`, j_3 'j' := `j`, x_2 'x' := `x`, y_2 'y' := `y`
  LeftOuterJoin: `k` = `k_2` AND `j` = `j_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: order by column hidden by using
SELECT l.x FROM l JOIN r USING (k) ORDER BY r.k
-- expected
Project: x_3 'x' := `x_2`
  Sort: `k_3` ASC NULLS FIRST
    Project: x_2 'x' := `x`, k_3 'k' := `k_2`
      InnerJoin: `k` = `k_2`
        Scan l: x, k, j
        Scan r: y, j_2 := j, k_2 := k

-- title: right outer join
SELECT a FROM t RIGHT OUTER JOIN l ON a = x
-- expected
Project: a_2 'a' := `a`
  RightOuterJoin: `a` = `x`
    Scan t: a, b
    Scan l: x, k, j

-- title: right outer join using
SELECT *, r.k FROM l RIGHT JOIN r USING (k, j)
-- expected
Project: k_3 'k' := `k_2`, j_3 'j' := `j_2`, x_2 'x' := `x`, y_2 'y' := `y`, k_4 'k' := `k_2`
  RightOuterJoin: `k` = `k_2` AND `j` = `j_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: semi join
SELECT model FROM cars LEFT SEMI JOIN dealers ON cars.dealer = dealers.dealer AND rating > 3
-- expected
Project: model_2 'model' := `model`
  SemiJoin: `dealer` = `dealer_2` AND `rating` > 3
    Scan cars: car_id, model, price, sold, dealer
    Scan dealers: dealer_2 := dealer, city, rating

-- title: semi join using
SELECT * FROM l LEFT SEMI JOIN r USING (j)
-- expected
Project: j_3 'j' := `j`, x_2 'x' := `x`, k_3 'k' := `k`
  SemiJoin: `j` = `j_2`
    Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: subquery in outer join
SELECT a FROM t LEFT JOIN l ON a IN (SELECT y FROM r)
-- expected
Project: a_2 'a' := `a`
  LeftOuterJoin: `found`
    ExistenceJoin found: `a` = `y_2`
      Scan t: a, b
      Project: y_2 'y' := `y`
        Scan r: y, j_2 := j, k_2 := k
    Scan l: x, k, j

-- title: subquery in semi join condition
SELECT a FROM t LEFT SEMI JOIN l ON a IN (SELECT y FROM r)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `found`
    ExistenceJoin found: `a` = `y_2`
      Scan t: a, b
      Project: y_2 'y' := `y`
        Scan r: y, j_2 := j, k_2 := k
    Scan l: x, k, j

-- title: using ambiguous
SELECT 1 FROM (SELECT a, b AS a FROM t) l2 JOIN t USING (a)
-- error
QueryError: column a is ambiguous at 1:58
  AS a FROM t) l2 JOIN t USING (a)
                                ^
Write the join's condition with ON.
-- advised
SELECT 1 FROM (SELECT a, b AS c FROM t) l2 JOIN t ON l2.a = t.a

-- title: using unknown
SELECT * FROM t JOIN l USING (k)
-- error
QueryError: column k is not known at 1:31
  SELECT * FROM t JOIN l USING (k)
                                ^
Name a column that both sides of the join have.
-- advised
SELECT * FROM l JOIN r USING (k)

-- title: values joined
SELECT t.a, v.q FROM t JOIN (VALUES (1, 'x'), (2, NULL)) AS v(p, q) ON t.a = v.p
-- expected
Project: a_2 'a' := `a`, q := `col2_2`
  InnerJoin: `a` = `col1_2`
    Scan t: a, b
    Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`
      Constant VALUES (1, 'x', 0), (2, NULL, 1): col1, col2, position
