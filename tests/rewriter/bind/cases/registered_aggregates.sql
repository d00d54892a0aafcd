-- title: registered aggregate
SELECT dealer, middle(price) + 1 AS m
FROM cars
GROUP BY dealer
HAVING middle(price) > 2
ORDER BY middle(price, car_id)
-- expected
Project: dealer_4 'dealer' := `dealer_2`, m_2 'm' := `m`
  Sort: `middle_price_car_id_2` ASC NULLS FIRST
    Project: dealer_2 'dealer' := `dealer_3`, m := `middle_price` + 1, middle_price_car_id_2 'middle_price_car_id' := `middle_price_car_id`
      Filter: `middle_price` > 2
        Aggregate: by (dealer_3 'dealer' := `dealer`) compute (middle_price 'middle(price)' := MIDDLE(`price`), middle_price_car_id 'middle(price, car_id)' := MIDDLE(`price`, `car_id`))
          Scan cars: car_id, model, price, sold, dealer

-- title: registered aggregate argument by name
SELECT dealer, middle(v => price) AS m FROM cars GROUP BY dealer
-- error
UnsupportedError: arguments by name of the aggregate middle are not supported at 1:16
  SELECT dealer, middle(v => price) AS m FROM cars GROUP BY de
                 ^^^^^^
Give the arguments in their order.
-- advised
SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer

-- title: registered aggregate beside another
SELECT dealer, middle(price) AS m, count(*) AS n FROM cars GROUP BY dealer
-- error
UnsupportedError: the registered aggregate middle beside one of Spark's is not supported at 1:60
  AS m, count(*) AS n FROM cars GROUP BY dealer
                                ^^^^^^^^
Spark does not compute both at once: join two queries.
-- advised
SELECT m.dealer, m.m, n.n FROM (SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer) m JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) n ON m.dealer = n.dealer

-- title: registered aggregate in derived table
SELECT count(*) AS n FROM (SELECT middle(price) AS m FROM cars)
-- error
UnsupportedError: the registered aggregate middle in a subquery without GROUP BY is not supported at 1:35
  CT count(*) AS n FROM (SELECT middle(price) AS m FROM cars)
                                ^^^^^^
Group by a constant: GROUP BY 'all'.
-- advised
SELECT count(*) AS n FROM (SELECT middle(price) AS m FROM cars GROUP BY 'all')

-- title: registered aggregate in subquery
SELECT id FROM cars WHERE price > (SELECT middle(price) FROM cars)
-- error
UnsupportedError: the registered aggregate middle in a subquery without GROUP BY is not supported at 1:43
  OM cars WHERE price > (SELECT middle(price) FROM cars)
                                ^^^^^^
Group by a constant: GROUP BY 'all'.
-- advised
SELECT car_id FROM cars WHERE price > (SELECT middle(price) FROM cars GROUP BY 'all')

-- title: registered aggregate in where
SELECT dealer FROM cars WHERE middle(price) > 2
-- error
QueryError: aggregate middle cannot stand in WHERE at 1:31
  SELECT dealer FROM cars WHERE middle(price) > 2
                                ^^^^^^
Compute the aggregate in a derived table and refer to its column.
-- advised
SELECT dealer FROM (SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer) WHERE m > 2

-- title: registered aggregate of outer values
SELECT dealer FROM dealers WHERE rating > (SELECT middle(price) FROM cars WHERE price > rating)
-- error
UnsupportedError: the registered aggregate middle in a subquery without GROUP BY is not supported at 1:51
  ealers WHERE rating > (SELECT middle(price) FROM cars WHERE 
                                ^^^^^^
Group by a constant: GROUP BY 'all'.
-- advised
SELECT dealer FROM dealers WHERE rating > (SELECT middle(price) FROM cars WHERE price > rating GROUP BY 'all')

-- title: registered aggregate window
SELECT car_id, middle(price) OVER (PARTITION BY dealer) AS m FROM cars
-- expected
Project: car_id_2 'car_id' := `car_id`, m := `middle`
  Windows: middle := MIDDLE(`price`) OVER (PARTITION BY `dealer`)
    Scan cars: car_id, model, price, sold, dealer

-- title: registered aggregate without group by
SELECT middle(price) AS m FROM cars
-- expected
Project: m := `middle_price`
  Aggregate: by (all := TRUE) compute (middle_price 'middle(price)' := MIDDLE(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: table argument not registered
SELECT * FROM other(TABLE(cars) PARTITION BY dealer)
-- error
UnsupportedError: the table function other of a relation is not supported at 1:15
  SELECT * FROM other(TABLE(cars) PARTITION BY dealer)
                ^^^^^
Register a udtf of rows, with its return type: ls.register('other', ...).

-- title: arguments by name of an aggregate of spark
SELECT hex(count_min_sketch(seed => 1, epsilon => 0.5D, confidence => 0.5D, column => b)) AS h FROM t
-- error
UnsupportedError: arguments by name of the aggregate count_min_sketch are not supported at 1:12
  SELECT hex(count_min_sketch(seed => 1, epsilon => 0.5D, conf
             ^^^^^^^^^^^^^^^^
Give the arguments in their order.
-- advised
SELECT hex(count_min_sketch(b, 0.5D, 0.5D, 1)) AS h FROM t
