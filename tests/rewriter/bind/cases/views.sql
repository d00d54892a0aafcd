-- title: cyclic view
SELECT * FROM cyclic
-- error
QueryError: in view cyclic: view cyclic reads itself at 1:15
  SELECT * FROM cyclic
                ^^^^^^
Define the view without itself.

-- title: view
SELECT v.m FROM cheap AS v WHERE v.price > 1
-- expected
Project: m_2 'm' := `m`
  Filter: `price_2` > 1
    Project: m := `model`, price_2 'price' := `price`
      Filter: `price` < 10000
        Scan cars: car_id, model, price, sold, dealer

-- title: view column names
SELECT m, p FROM cheap_named
-- expected
Project: m := `model_2`, p := `price_2`
  Project: model_2 'model' := `model`, price_2 'price' := `price`
    Scan cars: car_id, model, price, sold, dealer

-- title: view not understood
SELECT * FROM unreadable
-- error
NotUnderstoodError: in view unreadable: This text is not understood (Required keyword: 'this' missing for <class 'sqlglot.expressions.query.Where'>) at 1:17
  SELECT a FROM t WHERE
                  ^^^^^
Simplify or reword this part; if Spark accepts the text, please report it.

-- title: view shared
SELECT x.total FROM totals AS x JOIN totals AS y USING (dealer)
-- expected
Project: total_4 'total' := `total_2`
  InnerJoin: `dealer_4` = `dealer_5`
    Project: dealer_4 'dealer' := `dealer_2`, total_2 'total' := `total`
      [1] Project: dealer_2 'dealer' := `dealer_3`, total := `sum_price`
        Aggregate: by (dealer_3 'dealer' := `dealer`) compute (sum_price 'SUM(price)' := SUM(`price`))
          Scan cars: car_id, model, price, sold, dealer
    Project: dealer_5 'dealer' := `dealer_2`, total_3 'total' := `total`
      [1] as above

-- title: view without text
SELECT a
FROM t
JOIN db.textless USING (a)
-- error
UnsupportedError: view db.textless: in this data frame, describe() has no rule at 3:6
  JOIN db.textless USING (a)
       ^^^^^^^^^^^
Write it as a query.
-- advised
SELECT a FROM t JOIN (SELECT count(*) AS a FROM t) USING (a)
