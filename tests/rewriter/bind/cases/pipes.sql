-- title: pipe aggregate
FROM cars
|> AGGREGATE sum(price) AS total, count(*) AS n GROUP BY dealer, sold % 2 AS parity
|> WHERE n > 1
|> ORDER BY total DESC
|> LIMIT 3
-- expected
Limit: 3 offset 0
  Sort: `total` DESC NULLS LAST
    Filter: `n` > 1
      Project: dealer_2 'dealer' := `dealer_3`, parity := `sold_2`, total := `sum_price`, n := `count`
        Aggregate: by (dealer_3 'dealer' := `dealer`, sold_2 'sold % 2' := `sold` % 2) compute (sum_price 'SUM(price)' := SUM(`price`), count 'COUNT(*)' := COUNT(*))
          Scan cars: car_id, model, price, sold, dealer

-- title: pipe aggregate of places
FROM t |> SELECT b, a |> AGGREGATE max(a) AS m GROUP BY 1
-- expected
Project: b_3 'b' := `b_4`, m := `max_a_2`
  Aggregate: by (b_4 'b' := `b_2`) compute (max_a_2 'max(a_2)' := MAX(`a_2`))
    Project: b_2 'b' := `b`, a_2 'a' := `a`
      Scan t: a, b

-- title: pipe extend set drop
FROM t |> EXTEND a + b AS s, s * 2 AS d |> SET a = b, b = a + 1 |> DROP s
-- expected
Project: a_6 'a' := `a_5`, b_6 'b' := `b_5`, d_4 'd' := `d_3`
  Project: a_5 'a' := `a_4`, b_4 'b' := `b_3`, s_3 's' := `s_2`, d_3 'd' := `d_2`, b_5 'b' := `a_4` + 1
    Project: a_3 'a' := `a_2`, b_3 'b' := `b_2`, s_2 's' := `s`, d_2 'd' := `d`, a_4 'a' := `b_2`
      Project: a_2 'a' := `a`, b_2 'b' := `b`, s := `a` + `b`, d := (`a` + `b`) * 2
        Scan t: a, b

-- title: pipe from values and lateral view
VALUES (1, array(2, 3)) AS v(p, q) |> JOIN t ON a = p
|> INTERSECT ALL (FROM nested LATERAL VIEW explode(arr) e AS c |> SELECT a, c, a, a)
-- expected
BagIntersection: p_2 'p', q_2 'q', a_6 'a', b_2 'b'
  InnerJoin: `a` = `p`
    Project: p := `col1_2`, q := `col2_2`
      Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`
        Constant VALUES (1, ARRAY(2, 3), 0): col1, col2, position
    Scan t: a, b
  Project: a_3 'a' := `a_2`, c_2 'c' := `c`, a_4 'a' := `a_2`, a_5 'a' := `a_2`
    Generate: `arr` as pos, c
      Scan nested: st, a_2 := a, arr

-- title: pipe in subqueries
WITH c AS (FROM cars |> WHERE price > 1)
SELECT model FROM (FROM c |> EXTEND price + 1 AS p) AS d WHERE p > (FROM t |> AGGREGATE max(a) AS m)
-- expected
Project: model_3 'model' := `model_2`
  Filter: `p` > `subquery`
    ScalarSubquery: subquery
      Project: car_id_2 'car_id' := `car_id`, model_2 'model' := `model`, price_2 'price' := `price`, sold_2 'sold' := `sold`, dealer_2 'dealer' := `dealer`, p := `price` + 1
        Filter: `price` > 1
          Scan cars: car_id, model, price, sold, dealer
      Project: m := `max_a`
        Aggregate: by () compute (max_a 'max(a)' := MAX(`a`))
          Scan t: a, b

-- title: pipe join named
FROM cars |> WHERE price > 1 |> AS c |> LEFT JOIN dealers AS d ON c.dealer = d.dealer |> SELECT c.model, city
-- expected
Project: model_2 'model' := `model`, city_2 'city' := `city`
  LeftOuterJoin: `dealer` = `dealer_2`
    Filter: `price` > 1
      Scan cars: car_id, model, price, sold, dealer
    Scan dealers: dealer_2 := dealer, city, rating

-- title: pipe of window
FROM cars |> SELECT model, row_number() OVER w AS r WINDOW w AS (PARTITION BY dealer ORDER BY price) |> WHERE r = 1
-- expected
Filter: `r` = 1
  Project: model_2 'model' := `model`, r := `row_number`
    Windows: row_number := ROW_NUMBER() OVER (PARTITION BY `dealer` ORDER BY `price`)
      Scan cars: car_id, model, price, sold, dealer

-- title: pipe order kept by where
FROM t |> ORDER BY b DESC |> WHERE a > 1 |> LIMIT 2
-- expected
Limit: 2 offset 0
  Filter: `a` > 1
    Sort: `b` DESC NULLS LAST
      Scan t: a, b

-- title: pipe pivot unpivot
FROM t |> PIVOT (sum(b) FOR a IN (1, 2)) |> UNPIVOT (v FOR n IN (`1`, `2`))
-- expected
Project: n_2 'n' := `n`, v_2 'v' := `v`
  Filter: NOT `v` IS NULL
    Generate inline: ARRAY(NAMED_STRUCT('col0', '1', 'col1', `_1`), NAMED_STRUCT('col0', '2', 'col1', `_2`)) as pos, n, v
      Project: _1 '1' := `_1_2`, _2 '2' := `_2_2`
        Aggregate: by () compute (_1_2 '1' := SUM(`b`) FILTER(WHERE `a` IS NOT DISTINCT FROM 1), _2_2 '2' := SUM(`b`) FILTER(WHERE `a` IS NOT DISTINCT FROM 2))
          Scan t: a, b

-- title: pipe rows placed
FROM t |> WHERE a > 1 |> SORT BY b |> SELECT a |> DISTRIBUTE BY a
-- expected
Project: a_2 'a' := `a`
  Filter: `a` > 1
    Scan t: a, b

-- title: pipe set operations
SELECT a FROM t UNION ALL SELECT b FROM t |> WHERE a > 1 |> EXCEPT (SELECT y FROM r) |> UNION ALL SELECT x FROM l
-- expected
UnionAll: a_6 'a'
  AntiJoin: `a_5` IS NOT DISTINCT FROM `y_2`
    Aggregate: by (a_5 'a' := `a_4`) compute ()
      Filter: `a_4` > 1
        UnionAll: a_4 'a'
          Project: a_2 'a' := `a`
            Scan t: a, b
          Project: b_3 'b' := `b_2`
            Scan t: a_3 := a, b_2 := b
    Project: y_2 'y' := `y`
      Scan r: y, j, k
  Project: x_2 'x' := `x`
    Scan l: x, k_2 := k, j_2 := j

-- title: pipe where select
FROM cars |> WHERE price > 100 |> SELECT model, cars.price * 2 AS double |> WHERE double < 500
-- expected
Filter: `double` < 500
  Project: model_2 'model' := `model`, double := `price` * 2
    Filter: `price` > 100
      Scan cars: car_id, model, price, sold, dealer

-- title: sample in pipe
FROM t |> WHERE b > 1 |> TABLESAMPLE (10 PERCENT) |> AGGREGATE count(*) AS n GROUP BY a
-- expected
Project: a_2 'a' := `a_3`, n := `count`
  Aggregate: by (a_3 'a' := `a`) compute (count 'COUNT(*)' := COUNT(*))
    Sample: TABLESAMPLE (10 PERCENT)
      Filter: `b` > 1
        Scan t: a, b
