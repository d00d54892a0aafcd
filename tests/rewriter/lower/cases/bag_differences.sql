-- title: except
SELECT dealer FROM dealers EXCEPT SELECT dealer FROM cars
-- expected
WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
), `b1` AS (
  SELECT
    g.`dealer_5` AS `dealer_5`
  FROM (
    SELECT
      m.`dealer` AS `dealer_5`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b2_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `k1`
  FROM `cars` AS cars
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
)
SELECT
  b1.`dealer_5` AS `dealer_5`,
  NAMED_STRUCT('b1', b1.`dealer_5`, 'b2_absent', b1.`dealer_5`) AS `_prov`
FROM `b1` AS b1
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` IS NOT DISTINCT FROM b1.`dealer_5`
  )
-- blocks
b1: group, identity dealer_5 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
  token: dealers as dealers in dealer
  key: dealer_5 := m.`dealer`
  output: dealer_5 := g.`dealer_5` (stable)
b2: group, identity k1 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: k1 := cars.`dealer`
  token: cars as cars in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity b1_dealer_5 (stable)
  lookup: b1 as b1, free
  semi: not b2 on b1.`dealer_5` <=> k1
  key: b1_dealer_5 := b1.`dealer_5`
  output: dealer_5 := b1.`dealer_5` (stable)

-- title: except all
SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers
-- blocks
b1: group, identity model_3 (stable)
  core:
    union: union_
      branch:
        scan: cars as cars
        store: model_3__5 := cars.`model`
        store: side__6 := 0
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := NULL
      branch:
        scan: dealers as dealers
        store: model_3__5 := dealers.`city`
        store: side__6 := 1
        store: cars_car_id := NULL
        store: dealers_dealer := dealers.`dealer`
    store: cars_car_id := union_.`cars_car_id`
    store: dealers_dealer := union_.`dealers_dealer`
    store: model_3 := union_.`model_3__5`
    store: side__6 := union_.`side__6`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  key: model_3 := m.`model_3`
  aggregate: left__7 := SUM(1 - m.`side__6`)
  aggregate: right__8 := SUM(m.`side__6`)
  having: g.`left__7` - g.`right__8` > 0
  difference by side: m.`side__6`
  having is not monotone
  output: model_3 := g.`model_3` (stable)
  output: copies__9 := g.`left__7` - g.`right__8`
b0: rows, identity b1_model_3 (stable, not unique)
  lookup: b1 as b1, free
  copies: b1.`copies__9`
  key: b1_model_3 := b1.`model_3`
  output: model_3 := b1.`model_3` (stable)

-- title: grouping of except all and constants
SELECT city, count(*) AS n FROM ((SELECT city FROM dealers EXCEPT ALL SELECT model FROM cars) AS t JOIN rates USING (city)) GROUP BY city
-- error
UnsupportedError: a grouping of EXCEPT ALL or INTERSECT ALL with a relation without provenance at 1:125
  AS t JOIN rates USING (city)) GROUP BY city
                                ^^^^^^^^
Track the relation with a key, so that its tuples can be distinguished.

-- title: intersect
SELECT dealer, model FROM cars INTERSECT SELECT dealer, city FROM dealers
-- blocks
b1: group, identity dealer_5, model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_5 := cars.`dealer`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  key: dealer_5 := m.`dealer_5`
  key: model_3 := m.`model_3`
  output: dealer_5 := g.`dealer_5` (stable)
  output: model_3 := g.`model_3` (stable)
b2: group, identity k1, k2 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: k2 := dealers.`city`
  token: dealers as dealers in dealer
  key: k1 := m.`dealer`
  key: k2 := m.`k2`
  output: k1 := g.`k1` (stable)
  output: k2 := g.`k2` (stable)
b0: rows, identity b1_dealer_5, b1_model_3 (stable)
  lookup: b1 as b1, free
  semi: b2 on b1.`dealer_5` <=> k1, b1.`model_3` <=> k2
  key: b1_dealer_5 := b1.`dealer_5`
  key: b1_model_3 := b1.`model_3`
  output: dealer_5 := b1.`dealer_5` (stable)
  output: model_3 := b1.`model_3` (stable)

-- title: intersect all grouped
SELECT t.m, count(*) AS n, d.city FROM (SELECT model AS m FROM cars INTERSECT ALL SELECT city FROM dealers) t JOIN dealers d ON d.city = t.m GROUP BY t.m, d.city
-- blocks
b1: group, identity m_2 (stable)
  core:
    union: union_
      branch:
        scan: cars as cars
        store: m_2__5 := cars.`model`
        store: side__6 := 0
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := NULL
      branch:
        scan: dealers as dealers
        store: m_2__5 := dealers.`city`
        store: side__6 := 1
        store: cars_car_id := NULL
        store: dealers_dealer := dealers.`dealer`
    store: cars_car_id := union_.`cars_car_id`
    store: dealers_dealer := union_.`dealers_dealer`
    store: m_2 := union_.`m_2__5`
    store: side__6 := union_.`side__6`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  key: m_2 := m.`m_2`
  aggregate: left__7 := SUM(1 - m.`side__6`)
  aggregate: right__8 := SUM(m.`side__6`)
  having: CASE WHEN g.`left__7` < g.`right__8` THEN g.`left__7` ELSE g.`right__8` END > 0
  intersection by side: m.`side__6`
  having is not monotone
  output: m_2 := g.`m_2` (stable)
  output: copies__9 := CASE WHEN g.`left__7` < g.`right__8` THEN g.`left__7` ELSE g.`right__8` END
b0: group, identity m_4, city_5 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers_2
    where: dealers_2.`city` = b1.`m_2`
    store: dealer := dealers_2.`dealer`
    store: b1_m_2 := b1.`m_2`
    store: city_5 := dealers_2.`city`
  token: dealers as dealers_2 in dealer
  lookup: b1 as b1, b1_m_2 <=> m_2
  copies: b1.`copies__9`
  key: m_4 := m.`b1_m_2`
  key: city_5 := m.`city_5`
  aggregate: count := COUNT(*)
  output: m_3 := g.`m_4` (stable)
  output: n := g.`count`
  output: city_4 := g.`city_5` (stable)

-- title: limit of except all
SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers ORDER BY model LIMIT 2
-- error
UnsupportedError: LIMIT over EXCEPT ALL or INTERSECT ALL is not supported at 1:75
  y FROM dealers ORDER BY model LIMIT 2
                                ^^^^^
Use EXCEPT or INTERSECT, or group the rows and count them.
-- advised
SELECT model FROM cars EXCEPT SELECT city FROM dealers ORDER BY model LIMIT 2

-- title: outer join of intersect all
SELECT d.city, cars.model FROM (SELECT city FROM dealers INTERSECT ALL SELECT city FROM dealers) d LEFT JOIN cars ON cars.dealer = d.city
-- expected
WITH `b2_members` AS (
  SELECT
    union__2.`dealers_3_dealer` AS `dealers_3_dealer`,
    union__2.`dealers_4_dealer` AS `dealers_4_dealer`,
    union__2.`city_5__14` AS `city_5`,
    union__2.`side__15` AS `side__15`
  FROM (
    SELECT
      dealers_3.`city` AS `city_5__14`,
      0 AS `side__15`,
      dealers_3.`dealer` AS `dealers_3_dealer`,
      NULL AS `dealers_4_dealer`
    FROM `dealers` AS dealers_3
    UNION ALL
    SELECT
      dealers_4.`city` AS `city_5__14`,
      1 AS `side__15`,
      NULL AS `dealers_3_dealer`,
      dealers_4.`dealer` AS `dealers_4_dealer`
    FROM `dealers` AS dealers_4
  ) AS union__2
), `b2` AS (
  SELECT
    g.`city_5` AS `city_5`,
    CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END AS `copies__18`
  FROM (
    SELECT
      m.`city_5` AS `city_5`,
      SUM(1 - m.`side__15`) AS `left__16`,
      SUM(m.`side__15`) AS `right__17`
    FROM `b2_members` AS m
    GROUP BY
      m.`city_5`
  ) AS g
  WHERE
    CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END > 0
), `b5_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b2.`city_5` AS `b2_city_5`,
    cars_2.`model` AS `model`,
    cars_2.`price` AS `price`,
    cars_2.`dealer` AS `dealer_3`
  FROM `b2` AS b2, `cars` AS cars_2
  WHERE
    cars_2.`dealer` = b2.`city_5`
), `b5` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`b2_city_5` AS `b2_city_5`,
    m.`b2_city_5` AS `city_5`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer_3` AS `dealer_3`,
    b2.`copies__18` AS `copies__28`
  FROM `b5_members` AS m, `b2` AS b2
  WHERE
    m.`b2_city_5` IS NOT DISTINCT FROM b2.`city_5`
), `b3_members` AS (
  SELECT
    union__3.`dealers_5_dealer` AS `dealers_5_dealer`,
    union__3.`dealers_6_dealer` AS `dealers_6_dealer`,
    union__3.`city_5__23` AS `city_5`,
    union__3.`side__24` AS `side__24`
  FROM (
    SELECT
      dealers_5.`city` AS `city_5__23`,
      0 AS `side__24`,
      dealers_5.`dealer` AS `dealers_5_dealer`,
      NULL AS `dealers_6_dealer`
    FROM `dealers` AS dealers_5
    UNION ALL
    SELECT
      dealers_6.`city` AS `city_5__23`,
      1 AS `side__24`,
      NULL AS `dealers_5_dealer`,
      dealers_6.`dealer` AS `dealers_6_dealer`
    FROM `dealers` AS dealers_6
  ) AS union__3
), `b3` AS (
  SELECT
    g.`city_5` AS `city_5`,
    CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END AS `copies__27`
  FROM (
    SELECT
      m.`city_5` AS `city_5`,
      SUM(1 - m.`side__24`) AS `left__25`,
      SUM(m.`side__24`) AS `right__26`
    FROM `b3_members` AS m
    GROUP BY
      m.`city_5`
  ) AS g
  WHERE
    CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END > 0
), `b4_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`dealer` AS `k1`
  FROM `cars` AS cars_3
), `b4` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b4_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b6` AS (
  SELECT
    b3.`city_5` AS `b3_city_5`,
    b3.`city_5` AS `city_5`,
    NULL AS `car_id`,
    NULL AS `model`,
    NULL AS `price`,
    NULL AS `dealer_3`,
    b3.`copies__27` AS `copies__29`
  FROM `b3` AS b3
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM `b4` AS k
      WHERE
        k.`k1` = b3.`city_5`
    )
), `b7` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_car_id__id` AS `_0_car_id__id`,
    u.`_0_b2_city_5` AS `_0_b2_city_5`,
    u.`_1_b3_city_5` AS `_1_b3_city_5`,
    u.`city_5` AS `city_5`,
    u.`car_id` AS `car_id`,
    u.`model` AS `model`,
    u.`price` AS `price`,
    u.`dealer_3` AS `dealer_3`,
    u.`copies__28` AS `copies__30`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`car_id__id` AS `_0_car_id__id`,
      t.`b2_city_5` AS `_0_b2_city_5`,
      NULL AS `_1_b3_city_5`,
      t.`city_5` AS `city_5`,
      t.`car_id` AS `car_id`,
      t.`model` AS `model`,
      t.`price` AS `price`,
      t.`dealer_3` AS `dealer_3`,
      t.`copies__28` AS `copies__28`
    FROM `b5` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_car_id__id`,
      NULL AS `_0_b2_city_5`,
      t.`b3_city_5` AS `_1_b3_city_5`,
      t.`city_5` AS `city_5`,
      NULL AS `car_id`,
      NULL AS `model`,
      NULL AS `price`,
      NULL AS `dealer_3`,
      t.`copies__29` AS `copies__28`
    FROM `b6` AS t
  ) AS u
)
SELECT
  b7.`city_5` AS `city_6`,
  b7.`model` AS `model_2`,
  NAMED_STRUCT(
    'b7',
    NAMED_STRUCT('_1', b7.`_branch`, '_2', b7.`_0_car_id__id`, '_3', b7.`_0_b2_city_5`, '_4', b7.`_1_b3_city_5`)
  ) AS `_prov`
FROM `b7` AS b7
LATERAL VIEW
EXPLODE(SEQUENCE(1, b7.`copies__30`)) copies AS `copy`
-- blocks
b2: group, identity city_5 (stable)
  core:
    union: union__2
      branch:
        scan: dealers as dealers_3
        store: city_5__14 := dealers_3.`city`
        store: side__15 := 0
        store: dealers_3_dealer := dealers_3.`dealer`
        store: dealers_4_dealer := NULL
      branch:
        scan: dealers as dealers_4
        store: city_5__14 := dealers_4.`city`
        store: side__15 := 1
        store: dealers_3_dealer := NULL
        store: dealers_4_dealer := dealers_4.`dealer`
    store: dealers_3_dealer := union__2.`dealers_3_dealer`
    store: dealers_4_dealer := union__2.`dealers_4_dealer`
    store: city_5 := union__2.`city_5__14`
    store: side__15 := union__2.`side__15`
  token: dealers as dealers_3 in dealers_3_dealer
  token: dealers as dealers_4 in dealers_4_dealer
  key: city_5 := m.`city_5`
  aggregate: left__16 := SUM(1 - m.`side__15`)
  aggregate: right__17 := SUM(m.`side__15`)
  having: CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END > 0
  intersection by side: m.`side__15`
  having is not monotone
  output: city_5 := g.`city_5` (stable)
  output: copies__18 := CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END
b5: rows, identity car_id__id, b2_city_5 (stable)
  core:
    potential: b2 as b2
    scan: cars as cars_2
    where: cars_2.`dealer` = b2.`city_5`
    store: car_id := cars_2.`car_id`
    store: b2_city_5 := b2.`city_5`
    store: model := cars_2.`model`
    store: price := cars_2.`price`
    store: dealer_3 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  lookup: b2 as b2, b2_city_5 <=> city_5
  key: car_id__id := m.`car_id`
  key: b2_city_5 := m.`b2_city_5`
  output: city_5 := m.`b2_city_5` (stable)
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer_3 := m.`dealer_3` (stable)
  output: copies__28 := b2.`copies__18`
b3: group, identity city_5 (stable)
  core:
    union: union__3
      branch:
        scan: dealers as dealers_5
        store: city_5__23 := dealers_5.`city`
        store: side__24 := 0
        store: dealers_5_dealer := dealers_5.`dealer`
        store: dealers_6_dealer := NULL
      branch:
        scan: dealers as dealers_6
        store: city_5__23 := dealers_6.`city`
        store: side__24 := 1
        store: dealers_5_dealer := NULL
        store: dealers_6_dealer := dealers_6.`dealer`
    store: dealers_5_dealer := union__3.`dealers_5_dealer`
    store: dealers_6_dealer := union__3.`dealers_6_dealer`
    store: city_5 := union__3.`city_5__23`
    store: side__24 := union__3.`side__24`
  token: dealers as dealers_5 in dealers_5_dealer
  token: dealers as dealers_6 in dealers_6_dealer
  key: city_5 := m.`city_5`
  aggregate: left__25 := SUM(1 - m.`side__24`)
  aggregate: right__26 := SUM(m.`side__24`)
  having: CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END > 0
  intersection by side: m.`side__24`
  having is not monotone
  output: city_5 := g.`city_5` (stable)
  output: copies__27 := CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END
b4: group, identity k1 (stable)
  core:
    scan: cars as cars_3
    store: car_id := cars_3.`car_id`
    store: k1 := cars_3.`dealer`
  token: cars as cars_3 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b6: rows, identity b3_city_5 (stable)
  lookup: b3 as b3, free
  semi: not b4 on b3.`city_5` = k1
  key: b3_city_5 := b3.`city_5`
  output: city_5 := b3.`city_5` (stable)
  output: car_id := NULL (stable)
  output: model := NULL (stable)
  output: price := NULL (stable)
  output: dealer_3 := NULL (stable)
  output: copies__29 := b3.`copies__27`
b7: union, identity _branch, _0_car_id__id, _0_b2_city_5, _1_b3_city_5 (stable)
  branch: b5
  branch: b6
  output: city_5 := u.`city_5` (stable)
  output: car_id := u.`car_id` (stable)
  output: model := u.`model` (stable)
  output: price := u.`price` (stable)
  output: dealer_3 := u.`dealer_3` (stable)
  output: copies__30 := u.`copies__28`
b0: rows, identity b7__branch, b7__0_car_id__id, b7__0_b2_city_5, b7__1_b3_city_5 (stable, not unique)
  lookup: b7 as b7, free
  copies: b7.`copies__30`
  key: b7__branch := b7.`_branch`
  key: b7__0_car_id__id := b7.`_0_car_id__id`
  key: b7__0_b2_city_5 := b7.`_0_b2_city_5`
  key: b7__1_b3_city_5 := b7.`_1_b3_city_5`
  output: city_6 := b7.`city_5` (stable)
  output: model_2 := b7.`model` (stable)

-- title: union of except all
SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers UNION ALL SELECT city FROM dealers
-- blocks
b1: group, identity model_3 (stable)
  core:
    union: union_
      branch:
        scan: cars as cars
        store: model_3__5 := cars.`model`
        store: side__6 := 0
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := NULL
      branch:
        scan: dealers as dealers
        store: model_3__5 := dealers.`city`
        store: side__6 := 1
        store: cars_car_id := NULL
        store: dealers_dealer := dealers.`dealer`
    store: cars_car_id := union_.`cars_car_id`
    store: dealers_dealer := union_.`dealers_dealer`
    store: model_3 := union_.`model_3__5`
    store: side__6 := union_.`side__6`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  key: model_3 := m.`model_3`
  aggregate: left__7 := SUM(1 - m.`side__6`)
  aggregate: right__8 := SUM(m.`side__6`)
  having: g.`left__7` - g.`right__8` > 0
  difference by side: m.`side__6`
  having is not monotone
  output: model_3 := g.`model_3` (stable)
  output: copies__9 := g.`left__7` - g.`right__8`
b2: rows, identity b1_model_3 (stable)
  lookup: b1 as b1, free
  key: b1_model_3 := b1.`model_3`
  output: model_3 := b1.`model_3` (stable)
  output: copies__10 := b1.`copies__9`
b3: rows, identity dealer (stable)
  core:
    scan: dealers as dealers_2
    store: dealer := dealers_2.`dealer`
    store: city_4 := dealers_2.`city`
  token: dealers as dealers_2 in dealer
  key: dealer := m.`dealer`
  output: city_4 := m.`city_4` (stable)
  output: copies__11 := 1 (stable)
b4: union, identity _branch, _0_b1_model_3, _1_dealer (stable)
  branch: b2
  branch: b3
  output: model_4 := u.`model_3` (stable)
  output: copies__12 := u.`copies__10`
b0: rows, identity b4__branch, b4__0_b1_model_3, b4__1_dealer (stable, not unique)
  lookup: b4 as b4, free
  copies: b4.`copies__12`
  key: b4__branch := b4.`_branch`
  key: b4__0_b1_model_3 := b4.`_0_b1_model_3`
  key: b4__1_dealer := b4.`_1_dealer`
  output: model_4 := b4.`model_4` (stable)
