-- title: collected from sorted
SELECT model, collect_list(price) AS prices, collect_set(price)[0] AS least FROM (SELECT model, price FROM cars ORDER BY dealer DESC) GROUP BY model
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_5`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  g.`model_5` AS `model_4`,
  g.`collect_list_price_3` AS `prices`,
  g.`collect_set_price_3`[0] AS `least`,
  g.`_prov`
FROM (
  SELECT
    m.`model_5` AS `model_5`,
    ARRAY_COMPACT(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(NAMED_STRUCT('value', m.`price`, 'key0', m.`dealer`, 'key1', (
            m.`car_id`
          ))),
          (l, r) -> CASE
            WHEN l.key0 IS NULL AND NOT r.key0 IS NULL
            THEN 1
            WHEN NOT l.key0 IS NULL AND r.key0 IS NULL
            THEN -1
            WHEN l.key0 < r.key0
            THEN 1
            WHEN l.key0 > r.key0
            THEN -1
            WHEN l.key1 IS NULL AND NOT r.key1 IS NULL
            THEN -1
            WHEN NOT l.key1 IS NULL AND r.key1 IS NULL
            THEN 1
            WHEN l.key1 < r.key1
            THEN -1
            WHEN l.key1 > r.key1
            THEN 1
            ELSE 0
          END
        ),
        e -> e.value
      )
    ) AS `collect_list_price_3`,
    ARRAY_SORT(COLLECT_SET(m.`price`)) AS `collect_set_price_3`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'collect_list_price_3_value',
        NAMED_STRUCT('_1', m.`price`, '_2', m.`dealer`, '_3', (
          m.`car_id`
        )),
        'collect_set_price_3_value',
        NAMED_STRUCT('_1', m.`price`, '_2', m.`price`)
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_5`
) AS g
-- blocks
b0: group, identity model_5 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_5 := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: model_5 := m.`model_5`
  aggregate: collect_list_price_3 := COLLECT_LIST(m.`price`) WITHIN GROUP (ORDER BY m.`dealer` DESC, (m.`car_id`) ASC)
  aggregate: collect_set_price_3 := COLLECT_SET(m.`price`) WITHIN GROUP (ORDER BY m.`price` ASC)
  output: model_4 := g.`model_5` (stable)
  output: prices := g.`collect_list_price_3`
  output: least := g.`collect_set_price_3`[0]

-- title: collected single row
SELECT collect_list(n)[0] AS first FROM (SELECT sum(price) AS n FROM cars)
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: sum_price := SUM(m.`price`)
  output: n := g.`sum_price`
b0: group, identity nothing (not stable)
  lookup: b1 as b1, free
  aggregate: collect_list_n := COLLECT_LIST(b1.`n`)
  output: first := g.`collect_list_n`[0]

-- title: collected without order
SELECT model, size(collect_list(price)) AS n, array_sort(collect_list(price)) AS prices, collect_list(price) AS shown FROM cars GROUP BY model
-- blocks
b0: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`)
  output: model_2 := g.`model_3` (stable)
  output: n := SIZE(g.`collect_list_price`)
  output: prices := ARRAY_SORT(g.`collect_list_price`)
  output: shown := g.`collect_list_price`

-- title: explode collected
SELECT d.model, e.price FROM (SELECT model, collect_list(struct(price, dealer)) AS cars FROM cars WHERE price > 3 GROUP BY model HAVING count(*) > 1) d LATERAL VIEW inline(d.cars) e AS price, dealer
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 3
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: collect_list_struct_price_as_price_deale := STRUCT(cars.`price` AS `price`, cars.`dealer` AS `dealer`)
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_struct_price_as_price_deale := COLLECT_LIST(m.`collect_list_struct_price_as_price_deale`)
  aggregate: count := COUNT(*)
  having: g.`count` > 1
  having is monotone
  output: model_2 := g.`model_3` (stable)
  output: cars := g.`collect_list_struct_price_as_price_deale`
b0: rows, identity car_id, b1_model_3 (stable)
  core:
    potential: b1 as b1
    scan: cars as cars_2
    where: cars_2.`price` > 3
    where: b1.`model_3` IS NOT DISTINCT FROM cars_2.`model`
    where: NOT STRUCT(cars_2.`price` AS `price`, cars_2.`dealer` AS `dealer`) IS NULL
    store: car_id := cars_2.`car_id`
    store: b1_model_3 := b1.`model_3`
    store: model_4 := b1.`model_2`
    store: price_3 := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1, b1_model_3 <=> model_3
  key: car_id := m.`car_id`
  key: b1_model_3 := m.`b1_model_3`
  output: model_4 := m.`model_4` (stable)
  output: price_3 := m.`price_3` (stable)

-- title: explode collected of shared cte
WITH lists AS (SELECT model AS m, collect_list(struct(price, dealer)) AS cars FROM cars GROUP BY model),
flat AS (SELECT l.m, e.p FROM lists l LATERAL VIEW inline(l.cars) e AS p, d)
SELECT f.m, f.p FROM flat f WHERE f.p > (SELECT avg(g.p) FROM flat g)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    STRUCT(cars.`price` AS `price`, cars.`dealer` AS `dealer`) AS `collect_list_struct_price_as_price_deale`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_2` AS `model_2`,
    g.`model_2` AS `m_2`,
    g.`collect_list_struct_price_as_price_deale` AS `cars_2`
  FROM (
    SELECT
      m.`model_2` AS `model_2`,
      COLLECT_LIST(m.`collect_list_struct_price_as_price_deale`) AS `collect_list_struct_price_as_price_deale`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_2`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b1.`model_2` AS `b1_model_2`,
    cars_2.`price` AS `price`
  FROM `b1` AS b1, `cars` AS cars_2
  WHERE
    b1.`model_2` IS NOT DISTINCT FROM cars_2.`model`
    AND NOT STRUCT(cars_2.`price` AS `price`, cars_2.`dealer` AS `dealer`) IS NULL
), `b2` AS (
  SELECT
    g.`avg_p_4` AS `avg_g_p`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_p_4`
    FROM `b2_members` AS m, `b1` AS b1
    WHERE
      m.`b1_model_2` IS NOT DISTINCT FROM b1.`model_2`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_4.`car_id` AS `car_id`,
    b1_2.`model_2` AS `b1_2_model_2`,
    cars_4.`price` AS `price`,
    b1_2.`m_2` AS `m_6`
  FROM `b1` AS b1_2, `cars` AS cars_4
  WHERE
    b1_2.`model_2` IS NOT DISTINCT FROM cars_4.`model`
    AND NOT STRUCT(cars_4.`price` AS `price`, cars_4.`dealer` AS `dealer`) IS NULL
)
SELECT
  m.`m_6` AS `m_6`,
  m.`price` AS `p_5`,
  NAMED_STRUCT('cars_4', m.`car_id`, 'b1_2', b1_2.`model_2`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1_2
WHERE
  m.`b1_2_model_2` IS NOT DISTINCT FROM b1_2.`model_2`
  AND m.`price` > (
    SELECT
      b2_value.`avg_g_p`
    FROM `b2` AS b2_value
  )
-- blocks
b1: group, identity model_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: collect_list_struct_price_as_price_deale := STRUCT(cars.`price` AS `price`, cars.`dealer` AS `dealer`)
  token: cars as cars in car_id
  key: model_2 := m.`model_2`
  aggregate: collect_list_struct_price_as_price_deale := COLLECT_LIST(m.`collect_list_struct_price_as_price_deale`)
  output: m_2 := g.`model_2` (stable)
  output: cars_2 := g.`collect_list_struct_price_as_price_deale`
b2: group, identity nothing (not stable)
  core:
    potential: b1 as b1
    scan: cars as cars_2
    where: b1.`model_2` IS NOT DISTINCT FROM cars_2.`model`
    where: NOT STRUCT(cars_2.`price` AS `price`, cars_2.`dealer` AS `dealer`) IS NULL
    store: car_id := cars_2.`car_id`
    store: b1_model_2 := b1.`model_2`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1, b1_model_2 <=> model_2
  aggregate: avg_p_4 := AVG(m.`price`)
  output: avg_g_p := g.`avg_p_4`
b0: rows, identity car_id, b1_2_model_2 (stable)
  core:
    potential: b1 as b1_2
    scan: cars as cars_4
    where: b1_2.`model_2` IS NOT DISTINCT FROM cars_4.`model`
    where: NOT STRUCT(cars_4.`price` AS `price`, cars_4.`dealer` AS `dealer`) IS NULL
    store: car_id := cars_4.`car_id`
    store: b1_2_model_2 := b1_2.`model_2`
    store: price := cars_4.`price`
    store: m_6 := b1_2.`m_2`
  token: cars as cars_4 in car_id
  lookup: b1 as b1_2, b1_2_model_2 <=> model_2
  lookup: b2 as b2_value, scalar
  condition: m.`price` > b2_value.`avg_g_p`
  key: car_id := m.`car_id`
  key: b1_2_model_2 := m.`b1_2_model_2`
  output: m_6 := m.`m_6` (stable)
  output: p_5 := m.`price` (stable)

-- title: explode collected set
SELECT explode(dealers) AS dealer FROM (SELECT collect_set(dealer) AS dealers FROM cars GROUP BY model)
-- blocks
b1: group, identity model_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: model_2 := m.`model_2`
  aggregate: collect_set_dealer := COLLECT_SET(m.`dealer`)
  output: dealers := g.`collect_set_dealer`
b2: group, identity model_2__key, dealer_2 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: model_2__key := cars_2.`model`
    store: dealer_2 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: model_2__key := m.`model_2__key`
  key: dealer_2 := m.`dealer_2`
  output: model_2__key := g.`model_2__key` (stable)
  output: dealer_2 := g.`dealer_2` (stable)
b0: rows, identity b1_model_2, b2_model_2__key, b2_dealer_2 (stable)
  lookup: b1 as b1, free
  lookup: b2 as b2, free
  condition: b1.`model_2` IS NOT DISTINCT FROM b2.`model_2__key`
  condition: NOT b2.`dealer_2` IS NULL
  key: b1_model_2 := b1.`model_2`
  key: b2_model_2__key := b2.`model_2__key`
  key: b2_dealer_2 := b2.`dealer_2`
  output: dealer_3 := b2.`dealer_2` (stable)

-- title: explode collected with places
SELECT d.model, e.at, e.price FROM (SELECT model, collect_list(price) AS prices FROM cars GROUP BY model) d LATERAL VIEW posexplode(d.prices) e AS at, price
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`) WITHIN GROUP (ORDER BY (m.`car_id`) ASC)
  output: model_2 := g.`model_3` (stable)
  output: prices := g.`collect_list_price`
b0: rows, identity b1_model_3, at (not stable)
  lookup: b1 as b1, free
  generate: b1.`prices` as generated(at, price_2)
  key: b1_model_3 := b1.`model_3`
  key: at := generated.`at`
  output: model_4 := b1.`model_2` (stable)
  output: at_2 := generated.`at`
  output: price_3 := generated.`price_2`

-- title: listed different values
SELECT dealer, listagg(DISTINCT price, '|') AS p FROM cars GROUP BY dealer
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: listagg_distinct_price := LISTAGG(DISTINCT SUBSTRING(m.`price`, 1), '|') WITHIN GROUP (ORDER BY SUBSTRING(m.`price`, 1) ASC)
  output: dealer_2 := g.`dealer_3` (stable)
  output: p := g.`listagg_distinct_price`
