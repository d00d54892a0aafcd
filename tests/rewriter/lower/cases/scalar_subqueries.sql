-- title: scalar correlated
SELECT model, price FROM cars c WHERE price > (SELECT 0.5 * avg(amount) FROM bids b WHERE b.car_id = c.car_id)
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `car_id_3`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`car_id_3` AS `car_id_3`,
    0.5 * g.`avg_amount` AS `value`,
    g.`car_id_3` AS `car_id_4`
  FROM (
    SELECT
      m.`car_id_3` AS `car_id_3`,
      AVG(m.`amount`) AS `avg_amount`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  m.`price` AS `price_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`car_id_4` = m.`car_id`
WHERE
  m.`price` > b1_value.`value`
-- blocks
b1: group, identity car_id_3 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: car_id_3 := bids.`car_id`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  key: car_id_3 := m.`car_id_3`
  aggregate: avg_amount := AVG(m.`amount`)
  output: value := 0.5 * g.`avg_amount`
  output: car_id_4 := g.`car_id_3` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b1_value, b1 on m.`car_id` = car_id_4
  condition: m.`price` > b1_value.`value`
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: price_2 := m.`price` (stable)

-- title: scalar correlated collect
SELECT city, (SELECT collect_list(model) FROM cars c WHERE c.dealer = d.dealer) AS models FROM dealers d
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: model := cars.`model`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: collect_list_model := COLLECT_LIST(m.`model`)
  output: value := g.`collect_list_model`
  output: dealer_4 := g.`dealer_3` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  outer lookup of values: b1_value, b1 on m.`dealer` = dealer_4
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
  output: models := CASE WHEN b1_value.`dealer_4` IS NULL THEN ARRAY() ELSE b1_value.`value` END

-- title: scalar correlated count
SELECT city, (SELECT count(*) FROM cars c WHERE c.dealer = d.dealer) AS n FROM dealers d ORDER BY n
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: value := g.`count`
  output: dealer_4 := g.`dealer_3` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  outer lookup of values: b1_value, b1 on m.`dealer` = dealer_4
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
  output: n := CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END
  order: CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END ASC NULLS FIRST

-- title: scalar correlated inequality
SELECT model, (SELECT count(*) FROM bids b WHERE b.amount > c.price) AS n FROM cars c
-- blocks
b1: group, identity price_2_3 (stable)
  core:
    union: union_
      branch:
        scan: bids as bids
        values: outer_:
          scan: cars as cars
          store: price_2 := cars.`price`
        where: bids.`amount` > outer_.`price_2`
        store: price_2 := outer_.`price_2`
        store: there := TRUE
        store: bids_bid := bids.`bid`
        store: bids_buyer := bids.`buyer`
      branch:
        values: outer__2:
          scan: cars as cars_2
          store: price_2 := cars_2.`price`
        store: price_2 := outer__2.`price_2`
        store: there := FALSE
        store: bids_bid := NULL
        store: bids_buyer := NULL
    store: bids_bid := union_.`bids_bid`
    store: bids_buyer := union_.`bids_buyer`
    store: price_2_3 := union_.`price_2`
    store: count_3 := CASE WHEN union_.`there` THEN 1 END
  token: bids as bids in bids_bid, bids_buyer
  key: price_2_3 := m.`price_2_3`
  aggregate: count_3 := COUNT(m.`count_3`)
  output: count_2 := g.`count_3`
  output: price_2_2 := g.`price_2_3` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_3
    store: car_id := cars_3.`car_id`
    store: price := cars_3.`price`
    store: model_3 := cars_3.`model`
  token: cars as cars_3 in car_id
  outer lookup of values: b1_value, b1 on m.`price` <=> price_2_2
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: n := b1_value.`count_2`

-- title: scalar correlated of rows
SELECT model, (SELECT d.city FROM dealers d WHERE d.dealer = c.dealer) AS city FROM cars c
-- expected
WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    outer_.`dealer_3` AS `dealer_3_3`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers, (
    SELECT DISTINCT
      cars.`dealer` AS `dealer_3`
    FROM `cars` AS cars
  ) AS outer_
  WHERE
    dealers.`dealer` = outer_.`dealer_3`
), `b1` AS (
  SELECT
    g.`dealer_3_3` AS `dealer_3_3`,
    g.`city_4` AS `city_4`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      m.`dealer_3_3` AS `dealer_3_3`,
      MAX(m.`city`) AS `city_4`,
      COUNT(*) AS `rows`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `dealer`,
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  CASE
    WHEN b1_value.`rows` > 1
    THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.')
    ELSE b1_value.`city_4`
  END AS `city_5`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_3_3` IS NOT DISTINCT FROM m.`dealer`
-- blocks
b1: group, identity dealer_3_3 (stable)
  core:
    scan: dealers as dealers
    values: outer_:
      scan: cars as cars
      store: dealer_3 := cars.`dealer`
    where: dealers.`dealer` = outer_.`dealer_3`
    store: dealer := dealers.`dealer`
    store: dealer_3_3 := outer_.`dealer_3`
    store: city := dealers.`city`
  token: dealers as dealers in dealer
  key: dealer_3_3 := m.`dealer_3_3`
  aggregate: city_4 := MAX(m.`city`)
  aggregate: rows := COUNT(*)
  output: dealer_3_3 := g.`dealer_3_3` (stable)
  output: city_4 := g.`city_4`
  output: rows := g.`rows`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: dealer := cars_2.`dealer`
    store: model_3 := cars_2.`model`
  token: cars as cars_2 in car_id
  outer lookup of values: b1_value, b1 on m.`dealer` <=> dealer_3_3
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: city_5 := CASE WHEN b1_value.`rows` > 1 THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.') ELSE b1_value.`city_4` END

-- title: scalar correlated to aggregate
SELECT g.dealer, (SELECT max(amount) FROM bids b WHERE b.amount > g.s) AS m FROM (SELECT dealer, sum(price) AS s FROM cars GROUP BY dealer) g
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_3 := g.`dealer_3` (stable)
  output: sum_price := g.`sum_price`
b2: group, identity s_2 (not stable)
  lookup: b1 as b1_2, free
  key: s_2 := b1_2.`sum_price`
  output: s_2 := g.`s_2`
b4: rows, identity bid, buyer, b2_s_2 (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  lookup: b2 as b2, free
  condition: m.`amount` > b2.`s_2`
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  key: b2_s_2 := b2.`s_2`
  output: amount_2 := m.`amount` (stable)
  output: s_2 := b2.`s_2`
  output: there := TRUE (stable)
b3: group, identity s_2 (not stable)
  lookup: b1 as b1_4, free
  key: s_2 := b1_4.`sum_price`
  output: s_2 := g.`s_2`
b5: rows, identity b3_s_2 (not stable)
  lookup: b3 as b3, free
  key: b3_s_2 := b3.`s_2`
  output: amount_2 := NULL (stable)
  output: s_2 := b3.`s_2`
  output: there := FALSE (stable)
b6: union, identity _branch, _0_bid, _0_buyer, _0_b2_s_2, _1_b3_s_2 (not stable)
  branch: b4
  branch: b5
  output: amount_2 := u.`amount_2` (stable)
  output: s_2 := u.`s_2`
  output: there := u.`there` (stable)
b7: group, identity s_2_3 (not stable)
  lookup: b6 as b6, free
  key: s_2_3 := b6.`s_2`
  aggregate: max_amount_2_2 := MAX(CASE WHEN b6.`there` THEN b6.`amount_2` END)
  output: max_amount_2 := g.`max_amount_2_2`
  output: s_2_2 := g.`s_2_3`
b0: rows, identity b1_5_dealer_3 (stable)
  lookup: b1 as b1_5, free
  outer lookup of values: b7_value, b7 on b1_5.`sum_price` <=> s_2_2
  key: b1_5_dealer_3 := b1_5.`dealer_3`
  output: dealer_5 := b1_5.`dealer_3` (stable)
  output: m := b7_value.`max_amount_2`

-- title: scalar correlated top
SELECT model, (SELECT buyer FROM bids b WHERE b.car_id = c.car_id ORDER BY amount DESC LIMIT 1) AS buyer FROM cars c
-- blocks
b1: rows, identity bid, buyer, car_id_3_2__id (stable)
  core:
    scan: bids as bids
    values: outer_:
      scan: cars as cars
      store: car_id_3 := cars.`car_id`
    where: bids.`car_id` = outer_.`car_id_3`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: car_id_3_2 := outer_.`car_id_3`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  key: car_id_3_2__id := m.`car_id_3_2`
  output: buyer_3 := m.`buyer` (stable)
  output: car_id_3_2 := m.`car_id_3_2` (stable)
  output: row_number_2 := ROW_NUMBER() OVER (PARTITION BY m.`car_id_3_2` ORDER BY m.`amount` DESC, (m.`bid`) ASC, (m.`buyer`) ASC)
b2: group, identity car_id_3_4 (stable)
  lookup: b1 as b1, free
  condition: b1.`row_number_2` <= 1
  key: car_id_3_4 := b1.`car_id_3_2`
  aggregate: buyer_5 := MAX(b1.`buyer_3`)
  aggregate: rows := COUNT(*)
  output: car_id_3_4 := g.`car_id_3_4` (stable)
  output: buyer_5 := g.`buyer_5`
  output: rows := g.`rows`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: model_3 := cars_2.`model`
  token: cars as cars_2 in car_id
  outer lookup of values: b2_value, b2 on m.`car_id` <=> car_id_3_4
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: buyer_6 := CASE WHEN b2_value.`rows` > 1 THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.') ELSE b2_value.`buyer_5` END

-- title: scalar subqueries of same rows
SELECT c.car_id,
       CASE WHEN (SELECT count(*) FROM cars WHERE price > 5) > 3
            THEN (SELECT 2 * avg(x.price) FROM cars x WHERE x.price > 5)
            ELSE (SELECT max(price) - count(*) FROM cars WHERE price > 5) END AS v,
       (SELECT count(DISTINCT price) FROM cars WHERE price > 5) AS alone,
       (SELECT sum(price) FROM cars WHERE price > 6) AS other
FROM cars c
-- blocks
b3: group, identity nothing (not stable)
  core:
    scan: cars as cars_3
    where: cars_3.`price` > 5
    store: car_id := cars_3.`car_id`
    store: price := cars_3.`price`
  token: cars as cars_3 in car_id
  aggregate: max_price_4 := MAX(m.`price`)
  aggregate: count_3 := COUNT(*)
  aggregate: avg_price_3 := AVG(m.`price`)
  output: max_price_count := g.`max_price_4` - g.`count_3`
  output: n2_avg_x_price := 2 * g.`avg_price_3`
  output: count := g.`count_3`
b2: group, identity nothing (not stable)
  core:
    scan: cars as cars_2
    where: cars_2.`price` > 5
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  aggregate: count_distinct_price_5 := COUNT(DISTINCT m.`price`)
  output: count_distinct_price := g.`count_distinct_price_5`
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    where: cars.`price` > 6
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: sum_price_6 := SUM(m.`price`)
  output: sum_price := g.`sum_price_6`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_4
    store: car_id := cars_4.`car_id`
  token: cars as cars_4 in car_id
  lookup: b3 as b3_value, scalar
  lookup: b3 as b3_value_2, scalar
  lookup: b3 as b3_value_3, scalar
  lookup: b2 as b2_value, scalar
  lookup: b1 as b1_value, scalar
  key: car_id := m.`car_id`
  output: car_id_7 := m.`car_id` (stable)
  output: v := CASE WHEN b3_value_3.`count` > 3 THEN b3_value_2.`n2_avg_x_price` ELSE b3_value.`max_price_count` END
  output: alone := b2_value.`count_distinct_price`
  output: other := b1_value.`sum_price`

-- title: scalar subqueries that are equal
SELECT car_id FROM cars
WHERE price > (SELECT avg(c.price) FROM cars c WHERE c.model = 'a' GROUP BY c.model)
   OR price < (SELECT avg(d.price) FROM cars d WHERE d.model = 'a' GROUP BY d.model) - 1
   OR price = (SELECT avg(e.price) FROM cars e WHERE e.model = 'b' GROUP BY e.model)
-- expected
WITH `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_7`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
  WHERE
    cars_2.`model` = 'b'
), `b2` AS (
  SELECT
    g.`model_7` AS `model_7`,
    g.`avg_price_4` AS `avg_e_price`
  FROM (
    SELECT
      m.`model_7` AS `model_7`,
      AVG(m.`price`) AS `avg_price_4`
    FROM `b2_members` AS m
    GROUP BY
      m.`model_7`
  ) AS g
), `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`model` = 'a'
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`avg_price_2` AS `avg_c_price`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`
  FROM `cars` AS cars_3
)
SELECT
  m.`car_id` AS `car_id_5`,
  NAMED_STRUCT('cars_3', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`avg_c_price`
    FROM `b1` AS b1_value
  )
  OR m.`price` < (
    SELECT
      b1_value_2.`avg_c_price`
    FROM `b1` AS b1_value_2
  ) - 1
  OR m.`price` = (
    SELECT
      b2_value.`avg_e_price`
    FROM `b2` AS b2_value
  )
-- blocks
b2: group, identity model_7 (stable)
  core:
    scan: cars as cars_2
    where: cars_2.`model` = 'b'
    store: car_id := cars_2.`car_id`
    store: model_7 := cars_2.`model`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  key: model_7 := m.`model_7`
  aggregate: avg_price_4 := AVG(m.`price`)
  output: avg_e_price := g.`avg_price_4`
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    where: cars.`model` = 'a'
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: avg_price_2 := AVG(m.`price`)
  output: avg_c_price := g.`avg_price_2`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_3
    store: car_id := cars_3.`car_id`
    store: price := cars_3.`price`
  token: cars as cars_3 in car_id
  lookup: b2 as b2_value, scalar
  lookup: b1 as b1_value, scalar
  lookup: b1 as b1_value_2, scalar
  condition: m.`price` > b1_value.`avg_c_price` OR m.`price` < b1_value_2.`avg_c_price` - 1 OR m.`price` = b2_value.`avg_e_price`
  key: car_id := m.`car_id`
  output: car_id_5 := m.`car_id` (stable)

-- title: scalar subquery in aggregate
SELECT dealer, sum(price - (SELECT min(amount) FROM bids)) AS gain FROM cars GROUP BY dealer
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  aggregate: min_amount_2 := MIN(m.`amount`)
  output: min_amount := g.`min_amount_2`
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  lookup: b1 as b1_value, scalar
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price_subquery := SUM(m.`price` - b1_value.`min_amount`)
  output: dealer_2 := g.`dealer_3` (stable)
  output: gain := g.`sum_price_subquery`

-- title: scalar subquery in having
SELECT dealer FROM cars GROUP BY dealer HAVING sum(price) > (SELECT max(amount) FROM bids)
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  aggregate: max_amount_2 := MAX(m.`amount`)
  output: max_amount := g.`max_amount_2`
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  lookup: b1 as b1_value, scalar
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  having: g.`sum_price` > b1_value.`max_amount`
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: scalar subquery in key
SELECT price > (SELECT avg(price) FROM cars) AS dear, count(*) FROM cars GROUP BY price > (SELECT avg(price) FROM cars)
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: avg_price_2 := AVG(m.`price`)
  output: avg_price := g.`avg_price_2`
b0: group, identity price_select_avg_price_from_cars (not stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1_value, scalar
  key: price_select_avg_price_from_cars := m.`price` > b1_value.`avg_price`
  aggregate: count_2 := COUNT(*)
  output: dear := g.`price_select_avg_price_from_cars`
  output: count := g.`count_2`

-- title: scalar subquery in order
SELECT model FROM cars ORDER BY price - (SELECT avg(price) FROM cars), model
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`avg_price_2` AS `avg_price`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_4`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_4` AS `model_4`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`price` - (
    SELECT
      b1_value.`avg_price`
    FROM `b1` AS b1_value
  ) ASC,
  m.`model_4` ASC
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: avg_price_2 := AVG(m.`price`)
  output: avg_price := g.`avg_price_2`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: model_4 := cars_2.`model`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1_value, scalar
  key: car_id := m.`car_id`
  output: model_4 := m.`model_4` (stable)
  order: m.`price` - b1_value.`avg_price` ASC NULLS FIRST
  order: m.`model_4` ASC NULLS FIRST

-- title: scalar subquery in select
SELECT model, (SELECT max(amount) FROM bids) - price AS gap FROM cars
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  aggregate: max_amount_2 := MAX(m.`amount`)
  output: max_amount := g.`max_amount_2`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  lookup: b1 as b1_value, scalar
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: gap := b1_value.`max_amount` - m.`price`

-- title: scalar subquery in where
SELECT model FROM cars WHERE price > (SELECT avg(price) FROM cars)
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: avg_price_2 := AVG(m.`price`)
  output: avg_price := g.`avg_price_2`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
    store: model_3 := cars_2.`model`
  token: cars as cars_2 in car_id
  lookup: b1 as b1_value, scalar
  condition: m.`price` > b1_value.`avg_price`
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)

-- title: scalar subquery of row
SELECT model FROM cars WHERE price > (SELECT rating FROM dealers WHERE dealer = 'd1')
-- blocks
b1: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    where: dealers.`dealer` = 'd1'
    store: dealer := dealers.`dealer`
    store: rating_2 := dealers.`rating`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  output: rating_2 := m.`rating_2` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1_value, scalar
  condition: m.`price` > b1_value.`rating_2`
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: scalar subquery twice
SELECT dealer FROM cars WHERE price > (SELECT avg(price) FROM cars) GROUP BY dealer HAVING sum(price) > (SELECT avg(price) FROM cars)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`avg_price_2` AS `avg_price`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`,
    cars_2.`dealer` AS `dealer_4`
  FROM `cars` AS cars_2
)
SELECT
  g.`dealer_4` AS `dealer_3`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_4` AS `dealer_4`,
    SUM(m.`price`) AS `sum_price`,
    COLLECT_LIST(NAMED_STRUCT('cars_2', m.`car_id`, 'sum_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  WHERE
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    )
  GROUP BY
    m.`dealer_4`
) AS g
WHERE
  g.`sum_price` > (
    SELECT
      b1_value_2.`avg_price`
    FROM `b1` AS b1_value_2
  )
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: avg_price_2 := AVG(m.`price`)
  output: avg_price := g.`avg_price_2`
b0: group, identity dealer_4 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
    store: dealer_4 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  lookup: b1 as b1_value, scalar
  lookup: b1 as b1_value_2, scalar
  condition: m.`price` > b1_value.`avg_price`
  key: dealer_4 := m.`dealer_4`
  aggregate: sum_price := SUM(m.`price`)
  having: g.`sum_price` > b1_value_2.`avg_price`
  having is not monotone
  output: dealer_3 := g.`dealer_4` (stable)

-- title: value of row in where
SELECT c.car_id FROM cars c JOIN bids b USING (car_id) WHERE c.dealer = (SELECT dealer FROM dealers WHERE city = 'Berlin')
-- blocks
b1: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    where: dealers.`city` = 'Berlin'
    store: dealer := dealers.`dealer`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  output: dealer_3 := m.`dealer` (stable)
b0: rows, identity car_id, bid, buyer (stable)
  core:
    scan: cars as cars
    scan: bids as bids
    where: cars.`car_id` = bids.`car_id`
    semi: b1 on cars.`dealer` = dealer_3
    store: car_id := cars.`car_id`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  token: bids as bids in bid, buyer
  lookup: b1 as b1_value, scalar
  condition: m.`dealer` = b1_value.`dealer_3`
  key: car_id := m.`car_id`
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  output: car_id_3 := m.`car_id` (stable)
