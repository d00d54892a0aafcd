-- title: aggregate within group
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS p, listagg(model, ',') WITHIN GROUP (ORDER BY price DESC, model) FILTER (WHERE price > 1) AS l FROM cars
-- expected
Project: p := `percentile_cont_0_5_within_group_order_b`, l := `listagg_model_within_group_order_by_pric`
  Aggregate: by () compute (percentile_cont_0_5_within_group_order_b 'percentile_cont(0.5) WITHIN GROUP (ORDER BY price)' := PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY `price`), listagg_model_within_group_order_by_pric 'listagg(model, ',') WITHIN GROUP (ORDER BY price DESC, model) FILTER(WHERE price > 1)' := LISTAGG(`model`, ',') WITHIN GROUP (ORDER BY `price` DESC, `model`) FILTER(WHERE `price` > 1))
    Scan cars: car_id, model, price, sold, dealer

-- title: aggregate without group by
SELECT count(*), sum(a) + count(*) FROM t WHERE b > 1
-- expected
Project: count 'COUNT(*)' := `count_2`, sum_a_count 'SUM(a) + COUNT(*)' := `sum_a` + `count_2`
  Aggregate: by () compute (count_2 'COUNT(*)' := COUNT(*), sum_a 'SUM(a)' := SUM(`a`))
    Filter: `b` > 1
      Scan t: a, b

-- title: group by
SELECT dealer, count(*) AS n, sum(price), avg(price) FROM cars GROUP BY dealer
-- expected
Project: dealer_2 'dealer' := `dealer_3`, n := `count`, sum_price 'SUM(price)' := `sum_price_2`, avg_price 'AVG(price)' := `avg_price_2`
  Aggregate: by (dealer_3 'dealer' := `dealer`) compute (count 'COUNT(*)' := COUNT(*), sum_price_2 'SUM(price)' := SUM(`price`), avg_price_2 'AVG(price)' := AVG(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: group by aggregate
SELECT sum(a) AS s FROM t GROUP BY s
-- error
QueryError: GROUP BY refers to an aggregate at 1:36
  T sum(a) AS s FROM t GROUP BY s
                                ^
Group by an expression without aggregates.
-- advised
SELECT sum(a) AS s FROM t GROUP BY b

-- title: group by alias
SELECT upper(model) AS m, count(*) FROM cars GROUP BY m
-- expected
Project: m := `m_2`, count 'COUNT(*)' := `count_2`
  Aggregate: by (m_2 'm' := UPPER(`model`)) compute (count_2 'COUNT(*)' := COUNT(*))
    Scan cars: car_id, model, price, sold, dealer

-- title: group by all
SELECT dealer, model, max(price) - min(price) AS spread FROM cars GROUP BY ALL
-- expected
Project: dealer_2 'dealer' := `dealer_3`, model_2 'model' := `model_3`, spread := `max_price` - `min_price`
  Aggregate: by (dealer_3 'dealer' := `dealer`, model_3 'model' := `model`) compute (max_price 'max(price)' := MAX(`price`), min_price 'min(price)' := MIN(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: group by column before alias
SELECT a + 10 AS b, count(*) FROM t GROUP BY a, b
-- expected
Project: b_2 'b' := `a_2` + 10, count 'COUNT(*)' := `count_2`
  Aggregate: by (a_2 'a' := `a`, b_3 'b' := `b`) compute (count_2 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: group by constant
SELECT 'x' AS c, count(1), a + 1 FROM t GROUP BY c, a
-- expected
Project: c := 'x', count_1 'COUNT(1)' := `count`, a_1 'a + 1' := `a_2` + 1
  Aggregate: by (c_2 'c' := 'x', a_2 'a' := `a`) compute (count 'COUNT(*)' := COUNT(*))
    Scan t: a, b

-- title: group by expression
SELECT (a + 1) * 2, a + 1 FROM t GROUP BY a + 1
-- expected
Project: a_1_2 '(a + 1) * 2' := `a_1_3` * 2, a_1 'a + 1' := `a_1_3`
  Aggregate: by (a_1_3 'a + 1' := `a` + 1) compute ()
    Scan t: a, b

-- title: group by operand order
SELECT (b + a) * 2, b > a FROM t GROUP BY a + b, a < b
-- expected
Project: b_a_2 '(b + a) * 2' := `a_b` * 2, b_a 'b > a' := `a_b_2`
  Aggregate: by (a_b 'a + b' := `a` + `b`, a_b_2 'a < b' := `a` < `b`) compute ()
    Scan t: a, b

-- title: group by ordinal
SELECT upper(model) AS m, count(*) FROM cars GROUP BY 1
-- expected
Project: m := `m_2`, count 'COUNT(*)' := `count_2`
  Aggregate: by (m_2 'm' := UPPER(`model`)) compute (count_2 'COUNT(*)' := COUNT(*))
    Scan cars: car_id, model, price, sold, dealer

-- title: having
SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 AND max(price) > min(price)
-- expected
Project: dealer_2 'dealer' := `dealer_3`
  Filter: `count` > 2 AND `max_price` > `min_price`
    Aggregate: by (dealer_3 'dealer' := `dealer`) compute (count 'COUNT(*)' := COUNT(*), max_price 'max(price)' := MAX(`price`), min_price 'min(price)' := MIN(`price`))
      Scan cars: car_id, model, price, sold, dealer

-- title: having alias
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer HAVING n > 2
-- expected
Project: dealer_2 'dealer' := `dealer_3`, n := `count`
  Filter: `count` > 2
    Aggregate: by (dealer_3 'dealer' := `dealer`) compute (count 'COUNT(*)' := COUNT(*))
      Scan cars: car_id, model, price, sold, dealer

-- title: having alias when column is not grouped
SELECT a, sum(b) AS b FROM t GROUP BY a HAVING b > 5
-- expected
Project: a_2 'a' := `a_3`, b_2 'b' := `sum_b`
  Filter: `sum_b` > 5
    Aggregate: by (a_3 'a' := `a`) compute (sum_b 'SUM(b)' := SUM(`b`))
      Scan t: a, b

-- title: having column before alias
SELECT -a AS a FROM t GROUP BY a HAVING a > 1
-- expected
Project: a_2 'a' := -`a_3`
  Filter: `a_3` > 1
    Aggregate: by (a_3 'a' := `a`) compute ()
      Scan t: a, b

-- title: having without group by
SELECT 1 AS one FROM t HAVING true
-- expected
Project: one := 1
  Filter: TRUE
    Aggregate: by () compute (count 'COUNT(*)' := COUNT(*))
      Scan t: a, b

-- title: not grouped
SELECT a, b FROM t GROUP BY a
-- error
QueryError: column b is neither grouped by nor aggregated at 1:11
  SELECT a, b FROM t GROUP BY a
            ^
Add it to GROUP BY, or aggregate it.
-- advised
SELECT a, b FROM t GROUP BY a, b

-- title: row as key
SELECT count(*) FROM t GROUP BY (a, b)
-- error
UnsupportedError: GROUP BY of a row in brackets is not supported at 1:24
  SELECT count(*) FROM t GROUP BY (a, b)
                         ^^^^^^^^
Write its columns without the brackets.
-- advised
SELECT count(*) FROM t GROUP BY a, b
