-- title: cte twice in union
WITH g AS (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) SELECT dealer FROM g UNION ALL SELECT dealer FROM g WHERE p > 3
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
    g.`dealer_3` AS `dealer_2`,
    g.`sum_price` AS `p`
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
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_2` AS `dealer_5`,
    NAMED_STRUCT('b1', b1.`dealer_3`) AS `_prov`
  FROM `b1` AS b1
), `b3` AS (
  SELECT
    b1_2.`dealer_3` AS `b1_2_dealer_3`,
    b1_2.`dealer_2` AS `dealer_7`,
    NAMED_STRUCT('b1_2', b1_2.`dealer_3`) AS `_prov`
  FROM `b1` AS b1_2
  WHERE
    b1_2.`p` > 3
)
SELECT
  u.`dealer_5` AS `dealer_8`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`b1_dealer_3` AS `_0_b1_dealer_3`,
    NULL AS `_1_b1_2_dealer_3`,
    t.`dealer_5` AS `dealer_5`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b2` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_b1_dealer_3`,
    t.`b1_2_dealer_3` AS `_1_b1_2_dealer_3`,
    t.`dealer_7` AS `dealer_5`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b3` AS t
) AS u
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
  output: dealer_2 := g.`dealer_3` (stable)
  output: p := g.`sum_price`
b2: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_5 := b1.`dealer_2` (stable)
b3: rows, identity b1_2_dealer_3 (stable)
  lookup: b1 as b1_2, free
  condition: b1_2.`p` > 3
  key: b1_2_dealer_3 := b1_2.`dealer_3`
  output: dealer_7 := b1_2.`dealer_2` (stable)
b0: union, identity _branch, _0_b1_dealer_3, _1_b1_2_dealer_3 (stable)
  branch: b2
  branch: b3
  output: dealer_8 := u.`dealer_5` (stable)

-- title: union distinct
SELECT model FROM cars UNION SELECT city FROM dealers
-- blocks
b0: group, identity model_4 (stable)
  core:
    union: union_
      branch:
        scan: cars as cars
        store: model_3 := cars.`model`
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := NULL
      branch:
        scan: dealers as dealers
        store: model_3 := dealers.`city`
        store: cars_car_id := NULL
        store: dealers_dealer := dealers.`dealer`
    store: cars_car_id := union_.`cars_car_id`
    store: dealers_dealer := union_.`dealers_dealer`
    store: model_4 := union_.`model_3`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  key: model_4 := m.`model_4`
  output: model_4 := g.`model_4` (stable)

-- title: union filtered above
SELECT * FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, 1 FROM dealers) t WHERE n > 2 AND dealer <> 'x'
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
b2: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
  output: _1 := 1 (stable)
b0: union, identity _branch, _0_dealer_3, _1_dealer (stable)
  branch: b1
  branch: b2
  having: u.`n` > 2
  having: u.`dealer_2` <> 'x'
  having is not monotone
  output: dealer_6 := u.`dealer_2` (stable)
  output: n_3 := u.`n`

-- title: union joined
SELECT d.city, u.dealer FROM dealers d JOIN (SELECT dealer, max(price) AS p FROM cars GROUP BY dealer UNION ALL SELECT buyer, 0 FROM bids GROUP BY buyer) u ON d.dealer = u.dealer
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_4 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: max_price := MAX(m.`price`)
  output: dealer_3 := g.`dealer_4` (stable)
  output: p := g.`max_price`
b2: group, identity buyer_3 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  key: buyer_3 := m.`buyer`
  output: buyer_2 := g.`buyer_3` (stable)
  output: _0 := 0 (stable)
b3: union, identity _branch, _0_dealer_4, _1_buyer_3 (stable)
  branch: b1
  branch: b2
  output: dealer_5 := u.`dealer_3` (stable)
  output: p_2 := u.`p`
b0: rows, identity dealer, b3__branch, b3__0_dealer_4, b3__1_buyer_3 (stable)
  core:
    scan: dealers as dealers
    potential: b3 as b3
    where: dealers.`dealer` = b3.`dealer_5`
    store: dealer := dealers.`dealer`
    store: b3__branch := b3.`_branch`
    store: b3__0_dealer_4 := b3.`_0_dealer_4`
    store: b3__1_buyer_3 := b3.`_1_buyer_3`
    store: city_2 := dealers.`city`
    store: dealer_6 := b3.`dealer_5`
  token: dealers as dealers in dealer
  lookup: b3 as b3, b3__branch <=> _branch, b3__0_dealer_4 <=> _0_dealer_4, b3__1_buyer_3 <=> _1_buyer_3
  key: dealer := m.`dealer`
  key: b3__branch := m.`b3__branch`
  key: b3__0_dealer_4 := m.`b3__0_dealer_4`
  key: b3__1_buyer_3 := m.`b3__1_buyer_3`
  output: city_2 := m.`city_2` (stable)
  output: dealer_6 := m.`dealer_6` (stable)

-- title: union of cores
SELECT model AS name FROM cars UNION ALL SELECT city FROM dealers WHERE rating > 3
-- expected
WITH `b0_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`name_2` AS `name_2`
  FROM (
    SELECT
      cars.`model` AS `name_2`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `name_2`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
    WHERE
      dealers.`rating` > 3
  ) AS union_
)
SELECT
  m.`name_2` AS `name_2`,
  NAMED_STRUCT('cars', m.`cars_car_id`, 'dealers', m.`dealers_dealer`) AS `_prov`
FROM `b0_members` AS m
-- blocks
b0: rows, identity cars_car_id, dealers_dealer (stable)
  core:
    union: union_
      branch:
        scan: cars as cars
        store: name_2 := cars.`model`
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := NULL
      branch:
        scan: dealers as dealers
        where: dealers.`rating` > 3
        store: name_2 := dealers.`city`
        store: cars_car_id := NULL
        store: dealers_dealer := dealers.`dealer`
    store: cars_car_id := union_.`cars_car_id`
    store: dealers_dealer := union_.`dealers_dealer`
    store: name_2 := union_.`name_2`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  key: cars_car_id := m.`cars_car_id`
  key: dealers_dealer := m.`dealers_dealer`
  output: name_2 := m.`name_2` (stable)

-- title: union of grouping and rows
SELECT dealer FROM cars GROUP BY dealer UNION ALL SELECT city FROM dealers
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  output: dealer_2 := g.`dealer_3` (stable)
b2: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
b0: union, identity _branch, _0_dealer_3, _1_dealer (stable)
  branch: b1
  branch: b2
  output: dealer_5 := u.`dealer_2` (stable)

-- title: union of groupings
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, max(rating) FROM dealers GROUP BY city ORDER BY dealer
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
b2: group, identity city_3 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_3 := dealers.`city`
    store: rating := dealers.`rating`
  token: dealers as dealers in dealer
  key: city_3 := m.`city_3`
  aggregate: max_rating_2 := MAX(m.`rating`)
  output: city_2 := g.`city_3` (stable)
  output: max_rating := g.`max_rating_2`
b0: union, identity _branch, _0_dealer_3, _1_city_3 (stable)
  branch: b1
  branch: b2
  output: dealer_5 := u.`dealer_2` (stable)
  output: n_2 := u.`n`
  order: u.`dealer_2` ASC NULLS FIRST

-- title: union of joins with groupings
SELECT d.city FROM dealers d JOIN (SELECT d2.city AS c FROM dealers d2 JOIN (SELECT dealer FROM cars GROUP BY dealer) g ON d2.dealer = g.dealer UNION ALL SELECT city FROM dealers GROUP BY city) u ON d.city = u.c
-- blocks
b1: group, identity dealer_5 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_5 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_5 := m.`dealer_5`
  output: dealer_4 := g.`dealer_5` (stable)
b2: rows, identity dealer, b1_dealer_5 (stable)
  core:
    scan: dealers as dealers_2
    potential: b1 as b1
    where: dealers_2.`dealer` = b1.`dealer_4`
    store: dealer := dealers_2.`dealer`
    store: b1_dealer_5 := b1.`dealer_5`
    store: c := dealers_2.`city`
  token: dealers as dealers_2 in dealer
  lookup: b1 as b1, b1_dealer_5 <=> dealer_5
  key: dealer := m.`dealer`
  key: b1_dealer_5 := m.`b1_dealer_5`
  output: c := m.`c` (stable)
b3: group, identity city_5 (stable)
  core:
    scan: dealers as dealers_3
    store: dealer := dealers_3.`dealer`
    store: city_5 := dealers_3.`city`
  token: dealers as dealers_3 in dealer
  key: city_5 := m.`city_5`
  output: city_4 := g.`city_5` (stable)
b4: union, identity _branch, _0_dealer, _0_b1_dealer_5, _1_city_5 (stable)
  branch: b2
  branch: b3
  output: c_2 := u.`c` (stable)
b0: rows, identity dealer, b4__branch, b4__0_dealer, b4__0_b1_dealer_5, b4__1_city_5 (stable)
  core:
    scan: dealers as dealers
    potential: b4 as b4
    where: dealers.`city` = b4.`c_2`
    store: dealer := dealers.`dealer`
    store: b4__branch := b4.`_branch`
    store: b4__0_dealer := b4.`_0_dealer`
    store: b4__0_b1_dealer_5 := b4.`_0_b1_dealer_5`
    store: b4__1_city_5 := b4.`_1_city_5`
    store: city_6 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b4 as b4, b4__branch <=> _branch, b4__0_dealer <=> _0_dealer, b4__0_b1_dealer_5 <=> _0_b1_dealer_5, b4__1_city_5 <=> _1_city_5
  key: dealer := m.`dealer`
  key: b4__branch := m.`b4__branch`
  key: b4__0_dealer := m.`b4__0_dealer`
  key: b4__0_b1_dealer_5 := m.`b4__0_b1_dealer_5`
  key: b4__1_city_5 := m.`b4__1_city_5`
  output: city_6 := m.`city_6` (stable)

-- title: union with aggregate joined
SELECT d.city, u.x FROM dealers d JOIN (SELECT 'x' AS x, count(*) AS n FROM cars UNION ALL SELECT buyer, 0 FROM bids GROUP BY buyer) u ON d.dealer = u.x
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    'x' AS `x`,
    g.`count` AS `n`
  FROM (
    SELECT
      COUNT(*) AS `count`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`buyer_3` AS `buyer_2`,
    0 AS `_0`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`
    FROM `b2_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
), `b3` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_1_buyer_3` AS `_1_buyer_3`,
    u.`x` AS `x_2`,
    u.`n` AS `n_2`
  FROM (
    SELECT
      0 AS `_branch`,
      NULL AS `_1_buyer_3`,
      t.`x` AS `x`,
      t.`n` AS `n`
    FROM `b1` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      t.`buyer_3` AS `_1_buyer_3`,
      t.`buyer_2` AS `x`,
      t.`_0` AS `n`
    FROM `b2` AS t
  ) AS u
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b3.`_branch` AS `b3__branch`,
    b3.`_1_buyer_3` AS `b3__1_buyer_3`,
    dealers.`city` AS `city_2`,
    b3.`x_2` AS `x_3`
  FROM `dealers` AS dealers, `b3` AS b3
  WHERE
    dealers.`dealer` = b3.`x_2`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`x_3` AS `x_3`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b3', NAMED_STRUCT('_1', b3.`_branch`, '_2', b3.`_1_buyer_3`)) AS `_prov`
FROM `b0_members` AS m, `b3` AS b3
WHERE
  m.`b3__branch` IS NOT DISTINCT FROM b3.`_branch`
  AND m.`b3__1_buyer_3` IS NOT DISTINCT FROM b3.`_1_buyer_3`
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
  token: cars as cars in car_id
  aggregate: count := COUNT(*)
  output: x := 'x' (stable)
  output: n := g.`count`
b2: group, identity buyer_3 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  key: buyer_3 := m.`buyer`
  output: buyer_2 := g.`buyer_3` (stable)
  output: _0 := 0 (stable)
b3: union, identity _branch, _1_buyer_3 (stable)
  branch: b1
  branch: b2
  output: x_2 := u.`x` (stable)
  output: n_2 := u.`n`
b0: rows, identity dealer, b3__branch, b3__1_buyer_3 (stable)
  core:
    scan: dealers as dealers
    potential: b3 as b3
    where: dealers.`dealer` = b3.`x_2`
    store: dealer := dealers.`dealer`
    store: b3__branch := b3.`_branch`
    store: b3__1_buyer_3 := b3.`_1_buyer_3`
    store: city_2 := dealers.`city`
    store: x_3 := b3.`x_2`
  token: dealers as dealers in dealer
  lookup: b3 as b3, b3__branch <=> _branch, b3__1_buyer_3 <=> _1_buyer_3
  key: dealer := m.`dealer`
  key: b3__branch := m.`b3__branch`
  key: b3__1_buyer_3 := m.`b3__1_buyer_3`
  output: city_2 := m.`city_2` (stable)
  output: x_3 := m.`x_3` (stable)
