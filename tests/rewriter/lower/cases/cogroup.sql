-- title: cogroup
SELECT * FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) c FULL JOIN (SELECT dealer, collect_list(city) AS cities FROM dealers GROUP BY dealer) d ON c.dealer = d.dealer
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b3` AS (
  SELECT
    b1_3.`dealer_3` AS `b1_3_dealer_3`,
    b1_3.`dealer_3` AS `key0__1`,
    CASE WHEN b1_3.`dealer_3` IS NULL THEN 0 END AS `key1__2`
  FROM `b1` AS b1_3
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    g.`dealer_6` AS `dealer_6`,
    g.`collect_list_city` AS `collect_list_city`
  FROM (
    SELECT
      m.`dealer` AS `dealer_6`,
      COLLECT_LIST(m.`city`) AS `collect_list_city`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b4` AS (
  SELECT
    b2_3.`dealer_6` AS `b2_3_dealer_6`,
    b2_3.`dealer_6` AS `key0__3`,
    CASE WHEN b2_3.`dealer_6` IS NULL THEN 1 END AS `key1__4`
  FROM `b2` AS b2_3
), `b5` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_b1_3_dealer_3` AS `_0_b1_3_dealer_3`,
    u.`_1_b2_3_dealer_6` AS `_1_b2_3_dealer_6`,
    u.`key0__1` AS `key__5`,
    u.`key1__2` AS `key__6`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`b1_3_dealer_3` AS `_0_b1_3_dealer_3`,
      NULL AS `_1_b2_3_dealer_6`,
      t.`key0__1` AS `key0__1`,
      t.`key1__2` AS `key1__2`
    FROM `b3` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_b1_3_dealer_3`,
      t.`b2_3_dealer_6` AS `_1_b2_3_dealer_6`,
      t.`key0__3` AS `key0__1`,
      t.`key1__4` AS `key1__2`
    FROM `b4` AS t
  ) AS u
), `b6` AS (
  SELECT
    g.`key__7` AS `key__7`,
    g.`key__8` AS `key__8`
  FROM (
    SELECT
      b5.`key__5` AS `key__7`,
      b5.`key__6` AS `key__8`
    FROM `b5` AS b5
    GROUP BY
      b5.`key__5`,
      b5.`key__6`
  ) AS g
)
SELECT
  b1_side.`dealer_3` AS `dealer_7`,
  b1_side.`count` AS `n_2`,
  b2_side.`dealer_6` AS `dealer_8`,
  b2_side.`collect_list_city` AS `cities_2`,
  NAMED_STRUCT('b6', NAMED_STRUCT('_1', b6.`key__7`, '_2', b6.`key__8`)) AS `_prov`
FROM `b6` AS b6
LEFT JOIN `b1` AS b1_side
  ON COALESCE(b6.`key__8`, 0) = 0
  AND b1_side.`dealer_3` IS NOT DISTINCT FROM b6.`key__7`
LEFT JOIN `b2` AS b2_side
  ON COALESCE(b6.`key__8`, 1) = 1
  AND b2_side.`dealer_6` IS NOT DISTINCT FROM b6.`key__7`
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_3 := g.`dealer_3` (stable)
  output: count := g.`count`
b3: rows, identity b1_3_dealer_3 (stable)
  lookup: b1 as b1_3, free
  key: b1_3_dealer_3 := b1_3.`dealer_3`
  output: key0__1 := b1_3.`dealer_3` (stable)
  output: key1__2 := CASE WHEN b1_3.`dealer_3` IS NULL THEN 0 END (stable)
b2: group, identity dealer_6 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city := dealers.`city`
  token: dealers as dealers in dealer
  key: dealer_6 := m.`dealer`
  aggregate: collect_list_city := COLLECT_LIST(m.`city`)
  output: dealer_6 := g.`dealer_6` (stable)
  output: collect_list_city := g.`collect_list_city`
b4: rows, identity b2_3_dealer_6 (stable)
  lookup: b2 as b2_3, free
  key: b2_3_dealer_6 := b2_3.`dealer_6`
  output: key0__3 := b2_3.`dealer_6` (stable)
  output: key1__4 := CASE WHEN b2_3.`dealer_6` IS NULL THEN 1 END (stable)
b5: union, identity _branch, _0_b1_3_dealer_3, _1_b2_3_dealer_6 (stable)
  branch: b3
  branch: b4
  output: key__5 := u.`key0__1` (stable)
  output: key__6 := u.`key1__2` (stable)
b6: group, identity key__7, key__8 (stable)
  lookup: b5 as b5, free
  key: key__7 := b5.`key__5`
  key: key__8 := b5.`key__6`
  output: key__7 := g.`key__7` (stable)
  output: key__8 := g.`key__8` (stable)
b0: rows, identity b6_key__7, b6_key__8 (stable)
  lookup: b6 as b6, free
  outer lookup of values: b1_side, b1 on b6.`key__7` <=> dealer_3 if COALESCE(b6.`key__8`, 0) = 0
  outer lookup of values: b2_side, b2 on b6.`key__7` <=> dealer_6 if COALESCE(b6.`key__8`, 1) = 1
  key: b6_key__7 := b6.`key__7`
  key: b6_key__8 := b6.`key__8`
  output: dealer_7 := b1_side.`dealer_3`
  output: n_2 := b1_side.`count`
  output: dealer_8 := b2_side.`dealer_6`
  output: cities_2 := b2_side.`collect_list_city`

-- title: cogroup of relations
SELECT car_id, c.price, d.price AS other FROM cars c FULL JOIN cars_2 d USING (car_id) WHERE coalesce(c.price, 9) > 3
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars_3
    store: car_id := cars_3.`car_id`
    store: model := cars_3.`model`
    store: price := cars_3.`price`
    store: dealer := cars_3.`dealer`
  token: cars as cars_3 in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
b3: rows, identity b1_car_id__id (stable)
  lookup: b1 as b1, free
  key: b1_car_id__id := b1.`car_id__id`
  output: key0__1 := b1.`car_id` (stable)
  output: key1__2 := CASE WHEN b1.`car_id` IS NULL THEN 0 END (stable)
b2: rows, identity car_id (stable)
  core:
    scan: cars_2 as cars_2_2
    store: car_id := cars_2_2.`car_id`
    store: price_2 := cars_2_2.`price`
  token: cars_2 as cars_2_2 in car_id
  key: car_id := m.`car_id`
  output: car_id_2 := m.`car_id` (stable)
  output: price_2 := m.`price_2` (stable)
b4: rows, identity b2_car_id (stable)
  lookup: b2 as b2, free
  key: b2_car_id := b2.`car_id`
  output: key0__3 := b2.`car_id_2` (stable)
  output: key1__4 := CASE WHEN b2.`car_id_2` IS NULL THEN 1 END (stable)
b5: union, identity _branch, _0_b1_car_id__id, _1_b2_car_id (stable)
  branch: b3
  branch: b4
  output: key__5 := u.`key0__1` (stable)
  output: key__6 := u.`key1__2` (stable)
b6: group, identity key__7, key__8 (stable)
  lookup: b5 as b5, free
  key: key__7 := b5.`key__5`
  key: key__8 := b5.`key__6`
  output: key__7 := g.`key__7` (stable)
  output: key__8 := g.`key__8` (stable)
b0: rows, identity b6_key__7, b6_key__8 (stable)
  lookup: b6 as b6, free
  outer lookup of values: b1_side, b1 on b6.`key__7` <=> car_id if COALESCE(b6.`key__8`, 0) = 0
  outer lookup of values: b2_side, b2 on b6.`key__7` <=> car_id_2 if COALESCE(b6.`key__8`, 1) = 1
  condition: COALESCE(b1_side.`price`, 9) > 3
  key: b6_key__7 := b6.`key__7`
  key: b6_key__8 := b6.`key__8`
  output: car_id_4 := COALESCE(b1_side.`car_id`, b2_side.`car_id_2`)
  output: price_3 := b1_side.`price`
  output: other := b2_side.`price_2`
