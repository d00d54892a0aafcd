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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`collect_list_model` AS `value`,
    g.`dealer_3` AS `dealer_4`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COLLECT_LIST(m.`model`) AS `collect_list_model`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  CASE WHEN b1_value.`dealer_4` IS NULL THEN ARRAY() ELSE b1_value.`value` END AS `models`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_4` = m.`dealer`

-- title: scalar correlated count
SELECT city, (SELECT count(*) FROM cars c WHERE c.dealer = d.dealer) AS n FROM dealers d ORDER BY n
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `value`,
    g.`dealer_3` AS `dealer_4`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END AS `n`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_4` = m.`dealer`
ORDER BY
  CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END ASC

-- title: scalar correlated inequality
SELECT model, (SELECT count(*) FROM bids b WHERE b.amount > c.price) AS n FROM cars c
-- expected
WITH `b1_members` AS (
  SELECT
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`price_2` AS `price_2_3`,
    CASE WHEN union_.`there` THEN 1 END AS `count_3`
  FROM (
    SELECT
      outer_.`price_2` AS `price_2`,
      TRUE AS `there`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars.`price` AS `price_2`
      FROM `cars` AS cars
    ) AS outer_
    WHERE
      bids.`amount` > outer_.`price_2`
    UNION ALL
    SELECT
      outer__2.`price_2` AS `price_2`,
      FALSE AS `there`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM (
      SELECT DISTINCT
        cars_2.`price` AS `price_2`
      FROM `cars` AS cars_2
    ) AS outer__2
  ) AS union_
), `b1` AS (
  SELECT
    g.`price_2_3` AS `price_2_3`,
    g.`count_3` AS `count_2`,
    g.`price_2_3` AS `price_2_2`
  FROM (
    SELECT
      m.`price_2_3` AS `price_2_3`,
      COUNT(m.`count_3`) AS `count_3`
    FROM `b1_members` AS m
    GROUP BY
      m.`price_2_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`,
    cars_3.`model` AS `model_3`
  FROM `cars` AS cars_3
)
SELECT
  m.`model_3` AS `model_3`,
  b1_value.`count_2` AS `n`,
  NAMED_STRUCT('cars_3', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`price_2_2` IS NOT DISTINCT FROM m.`price`
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

-- title: scalar correlated to aggregate
SELECT g.dealer, (SELECT max(amount) FROM bids b WHERE b.amount > g.s) AS m FROM (SELECT dealer, sum(price) AS s FROM cars GROUP BY dealer) g
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2` AS (
  SELECT
    g.`s_2` AS `s_2`
  FROM (
    SELECT
      b1_2.`sum_price` AS `s_2`
    FROM `b1` AS b1_2
    GROUP BY
      b1_2.`sum_price`
  ) AS g
), `b4_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b4` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    b2.`s_2` AS `b2_s_2`,
    m.`amount` AS `amount_2`,
    b2.`s_2` AS `s_2`,
    TRUE AS `there`
  FROM `b4_members` AS m, `b2` AS b2
  WHERE
    m.`amount` > b2.`s_2`
), `b3` AS (
  SELECT
    g.`s_2` AS `s_2`
  FROM (
    SELECT
      b1_4.`sum_price` AS `s_2`
    FROM `b1` AS b1_4
    GROUP BY
      b1_4.`sum_price`
  ) AS g
), `b5` AS (
  SELECT
    b3.`s_2` AS `b3_s_2`,
    NULL AS `amount_2`,
    b3.`s_2` AS `s_2`,
    FALSE AS `there`
  FROM `b3` AS b3
), `b6` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_bid` AS `_0_bid`,
    u.`_0_buyer` AS `_0_buyer`,
    u.`_0_b2_s_2` AS `_0_b2_s_2`,
    u.`_1_b3_s_2` AS `_1_b3_s_2`,
    u.`amount_2` AS `amount_2`,
    u.`s_2` AS `s_2`,
    u.`there` AS `there`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`bid` AS `_0_bid`,
      t.`buyer` AS `_0_buyer`,
      t.`b2_s_2` AS `_0_b2_s_2`,
      NULL AS `_1_b3_s_2`,
      t.`amount_2` AS `amount_2`,
      t.`s_2` AS `s_2`,
      t.`there` AS `there`
    FROM `b4` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_bid`,
      NULL AS `_0_buyer`,
      NULL AS `_0_b2_s_2`,
      t.`b3_s_2` AS `_1_b3_s_2`,
      NULL AS `amount_2`,
      t.`s_2` AS `s_2`,
      t.`there` AS `there`
    FROM `b5` AS t
  ) AS u
), `b7` AS (
  SELECT
    g.`s_2_3` AS `s_2_3`,
    g.`max_amount_2_2` AS `max_amount_2`,
    g.`s_2_3` AS `s_2_2`
  FROM (
    SELECT
      b6.`s_2` AS `s_2_3`,
      MAX(CASE WHEN b6.`there` THEN b6.`amount_2` END) AS `max_amount_2_2`
    FROM `b6` AS b6
    GROUP BY
      b6.`s_2`
  ) AS g
)
SELECT
  b1_5.`dealer_3` AS `dealer_5`,
  b7_value.`max_amount_2` AS `m`,
  NAMED_STRUCT('b1_5', b1_5.`dealer_3`) AS `_prov`
FROM `b1` AS b1_5
LEFT JOIN `b7` AS b7_value
  ON b7_value.`s_2_2` IS NOT DISTINCT FROM b1_5.`sum_price`

-- title: scalar correlated top
SELECT model, (SELECT buyer FROM bids b WHERE b.car_id = c.car_id ORDER BY amount DESC LIMIT 1) AS buyer FROM cars c
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`car_id_3` AS `car_id_3_2`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars.`car_id` AS `car_id_3`
    FROM `cars` AS cars
  ) AS outer_
  WHERE
    bids.`car_id` = outer_.`car_id_3`
), `b1` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    m.`car_id_3_2` AS `car_id_3_2__id`,
    m.`buyer` AS `buyer_3`,
    m.`car_id_3_2` AS `car_id_3_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`car_id_3_2` ORDER BY m.`amount` DESC, m.`bid` ASC, m.`buyer` ASC) AS `row_number_2`
  FROM `b1_members` AS m
), `b2` AS (
  SELECT
    g.`car_id_3_4` AS `car_id_3_4`,
    g.`buyer_5` AS `buyer_5`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      b1.`car_id_3_2` AS `car_id_3_4`,
      MAX(b1.`buyer_3`) AS `buyer_5`,
      COUNT(*) AS `rows`
    FROM `b1` AS b1
    WHERE
      b1.`row_number_2` <= 1
    GROUP BY
      b1.`car_id_3_2`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  CASE
    WHEN b2_value.`rows` > 1
    THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.')
    ELSE b2_value.`buyer_5`
  END AS `buyer_6`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b2` AS b2_value
  ON b2_value.`car_id_3_4` IS NOT DISTINCT FROM m.`car_id`

-- title: scalar subqueries of same rows
SELECT c.car_id,
       CASE WHEN (SELECT count(*) FROM cars WHERE price > 5) > 3
            THEN (SELECT 2 * avg(x.price) FROM cars x WHERE x.price > 5)
            ELSE (SELECT max(price) - count(*) FROM cars WHERE price > 5) END AS v,
       (SELECT count(DISTINCT price) FROM cars WHERE price > 5) AS alone,
       (SELECT sum(price) FROM cars WHERE price > 6) AS other
FROM cars c
-- expected
WITH `b3_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`
  FROM `cars` AS cars_3
  WHERE
    cars_3.`price` > 5
), `b3` AS (
  SELECT
    g.`max_price_4` - g.`count_3` AS `max_price_count`,
    2 * g.`avg_price_3` AS `n2_avg_x_price`,
    g.`count_3` AS `count`
  FROM (
    SELECT
      MAX(m.`price`) AS `max_price_4`,
      COUNT(*) AS `count_3`,
      AVG(m.`price`) AS `avg_price_3`
    FROM `b3_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
  WHERE
    cars_2.`price` > 5
), `b2` AS (
  SELECT
    g.`count_distinct_price_5` AS `count_distinct_price`
  FROM (
    SELECT
      COUNT(DISTINCT m.`price`) AS `count_distinct_price_5`
    FROM `b2_members` AS m
  ) AS g
), `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 6
), `b1` AS (
  SELECT
    g.`sum_price_6` AS `sum_price`
  FROM (
    SELECT
      SUM(m.`price`) AS `sum_price_6`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_4.`car_id` AS `car_id`
  FROM `cars` AS cars_4
)
SELECT
  m.`car_id` AS `car_id_7`,
  CASE
    WHEN (
      SELECT
        b3_value_3.`count`
      FROM `b3` AS b3_value_3
    ) > 3
    THEN (
      SELECT
        b3_value_2.`n2_avg_x_price`
      FROM `b3` AS b3_value_2
    )
    ELSE (
      SELECT
        b3_value.`max_price_count`
      FROM `b3` AS b3_value
    )
  END AS `v`,
  (
    SELECT
      b2_value.`count_distinct_price`
    FROM `b2` AS b2_value
  ) AS `alone`,
  (
    SELECT
      b1_value.`sum_price`
    FROM `b1` AS b1_value
  ) AS `other`,
  NAMED_STRUCT('cars_4', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
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
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`min_amount_2` AS `min_amount`
  FROM (
    SELECT
      MIN(m.`amount`) AS `min_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`sum_price_subquery` AS `gain`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    SUM(m.`price` - (
      SELECT
        b1_value.`min_amount`
      FROM `b1` AS b1_value
    )) AS `sum_price_subquery`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'sum_price_subquery_value',
        m.`price` - (
          SELECT
            b1_value.`min_amount`
          FROM `b1` AS b1_value
        )
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g

-- title: scalar subquery in having
SELECT dealer FROM cars GROUP BY dealer HAVING sum(price) > (SELECT max(amount) FROM bids)
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`max_amount_2` AS `max_amount`
  FROM (
    SELECT
      MAX(m.`amount`) AS `max_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    SUM(m.`price`) AS `sum_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`sum_price` > (
    SELECT
      b1_value.`max_amount`
    FROM `b1` AS b1_value
  )

-- title: scalar subquery in key
SELECT price > (SELECT avg(price) FROM cars) AS dear, count(*) FROM cars GROUP BY price > (SELECT avg(price) FROM cars)
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
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  g.`price_select_avg_price_from_cars` AS `dear`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    ) AS `price_select_avg_price_from_cars`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(NAMED_STRUCT('cars_2', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    )
) AS g

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

-- title: scalar subquery in select
SELECT model, (SELECT max(amount) FROM bids) - price AS gap FROM cars
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`max_amount_2` AS `max_amount`
  FROM (
    SELECT
      MAX(m.`amount`) AS `max_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  (
    SELECT
      b1_value.`max_amount`
    FROM `b1` AS b1_value
  ) - m.`price` AS `gap`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m

-- title: scalar subquery in where
SELECT model FROM cars WHERE price > (SELECT avg(price) FROM cars)
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
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`avg_price`
    FROM `b1` AS b1_value
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
-- expected
WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`rating` AS `rating_2`
  FROM `dealers` AS dealers
  WHERE
    dealers.`dealer` = 'd1'
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`rating_2` AS `rating_2`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`rating_2`
    FROM `b1` AS b1_value
  )

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
-- expected
WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
  WHERE
    dealers.`city` = 'Berlin'
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`dealer` AS `dealer_3`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars, `bids` AS bids
  WHERE
    cars.`car_id` = bids.`car_id`
)
SELECT
  m.`car_id` AS `car_id_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'bids', NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`dealer` = (
    SELECT
      b1_value.`dealer_3`
    FROM `b1` AS b1_value
  )
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
