-- title: window over except all
SELECT city, row_number() OVER (ORDER BY city) AS n FROM (SELECT city FROM dealers EXCEPT ALL SELECT model FROM cars) AS t
-- error
UnsupportedError: a window over EXCEPT ALL or INTERSECT ALL is not supported at 1:27
  SELECT city, row_number() OVER (ORDER BY city) AS n FROM (SE
                            ^^^^
Use EXCEPT or INTERSECT, or group the rows and count them.
-- advised
SELECT city, row_number() OVER (ORDER BY city) AS n FROM (SELECT city FROM dealers EXCEPT SELECT model FROM cars) AS t

-- title: window over explode collected
SELECT q.model, d.city FROM (SELECT c.model, rank() OVER (ORDER BY e.price) AS n FROM (SELECT model, collect_list(price) AS prices FROM cars GROUP BY model) c LATERAL VIEW explode(c.prices) e AS price) q JOIN dealers d ON d.dealer = q.n
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`collect_list_price` AS `prices`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      COLLECT_LIST(m.`price`) AS `collect_list_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b1.`model_3` AS `b1_model_3`,
    b1.`model_2` AS `model_4`,
    cars_2.`price` AS `price`
  FROM `b1` AS b1, `cars` AS cars_2
  WHERE
    b1.`model_3` IS NOT DISTINCT FROM cars_2.`model` AND NOT cars_2.`price` IS NULL
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_4` AS `model_4`,
    RANK() OVER (ORDER BY m.`price`) AS `n`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  b2.`model_4` AS `model_5`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2', NAMED_STRUCT('_1', b2.`car_id`, '_2', b2.`b1_model_3`)) AS `_prov`
FROM `b0_members` AS m, `b2` AS b2
WHERE
  m.`dealer` = b2.`n`
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`)
  output: model_2 := g.`model_3` (stable)
  output: prices := g.`collect_list_price`
b2: rows, identity car_id, b1_model_3 (stable)
  core:
    potential: b1 as b1
    scan: cars as cars_2
    where: b1.`model_3` IS NOT DISTINCT FROM cars_2.`model`
    where: NOT cars_2.`price` IS NULL
    store: car_id := cars_2.`car_id`
    store: b1_model_3 := b1.`model_3`
    store: model_4 := b1.`model_2`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1, b1_model_3 <=> model_3
  key: car_id := m.`car_id`
  key: b1_model_3 := m.`b1_model_3`
  output: model_4 := m.`model_4` (stable)
  output: n := RANK() OVER (ORDER BY m.`price`)
b0: rows, identity dealer, b2_car_id, b2_b1_model_3 (not stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b2 as b2, free
  condition: m.`dealer` = b2.`n`
  key: dealer := m.`dealer`
  key: b2_car_id := b2.`car_id`
  key: b2_b1_model_3 := b2.`b1_model_3`
  output: model_5 := b2.`model_4`
  output: city_2 := m.`city_2` (stable)

-- title: window that lists by range
SELECT car_id, listagg(model, ',') OVER (PARTITION BY dealer ORDER BY price) AS m FROM cars
-- error
UnsupportedError: LISTAGG over a RANGE frame is not supported at 1:36
  T car_id, listagg(model, ',') OVER (PARTITION BY dealer ORDE
                                ^^^^
Count the frame in rows: ROWS BETWEEN ... AND ...
-- advised
SELECT car_id, listagg(model, ',') OVER (PARTITION BY dealer ORDER BY price ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS m FROM cars

-- title: windows
SELECT car_id, rank() OVER (PARTITION BY model ORDER BY price DESC) AS r,
  row_number() OVER (ORDER BY price * 2) AS n, price - avg(price) OVER (PARTITION BY model) AS d
FROM cars
WHERE price > 10
ORDER BY d, car_id
LIMIT 3
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 10
)
SELECT
  r.`car_id_2`,
  r.`r`,
  r.`n`,
  r.`d`,
  r.`_prov`
FROM (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_2`,
    RANK() OVER (PARTITION BY m.`model` ORDER BY m.`price` DESC) AS `r`,
    ROW_NUMBER() OVER (ORDER BY m.`price` * 2, m.`car_id` ASC) AS `n`,
    m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`) AS `d`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`,
    m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`) AS `_o0`,
    m.`car_id` AS `_o1`
  FROM `b0_members` AS m
) AS r
ORDER BY
  r.`_o0` ASC,
  r.`_o1` ASC,
  r.`car_id` ASC
LIMIT 3
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 10
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: car_id_2 := m.`car_id` (stable)
  output: r := RANK() OVER (PARTITION BY m.`model` ORDER BY m.`price` DESC)
  output: n := ROW_NUMBER() OVER (ORDER BY m.`price` * 2, m.`car_id` ASC)
  output: d := m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`)
  order: m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`) ASC NULLS FIRST
  order: m.`car_id` ASC NULLS FIRST
  limit: 3 offset 0

-- title: windows joined
SELECT d.city, c.n
FROM dealers d
LEFT JOIN (SELECT car_id, dealer, row_number() OVER (PARTITION BY dealer ORDER BY price) AS n FROM cars) c
  ON c.car_id = d.dealer
WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id AND b.amount > c.n)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer_2` AS `dealer_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`dealer_2` ORDER BY m.`price`, m.`car_id` ASC) AS `row_number`
  FROM `b1_members` AS m
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1_2.`car_id__id` AS `b1_2_car_id__id`,
    dealers_2.`city` AS `city`,
    dealers_2.`rating` AS `rating`,
    b1_2.`car_id` AS `car_id_2`,
    b1_2.`dealer_2` AS `dealer_3`
  FROM `dealers` AS dealers_2, `b1` AS b1_2
  WHERE
    b1_2.`car_id` = dealers_2.`dealer`
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`b1_2_car_id__id` AS `b1_2_car_id__id`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    m.`car_id_2` AS `car_id_2`,
    m.`dealer_3` AS `dealer_3`,
    b1_2.`row_number` AS `n`
  FROM `b3_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_car_id__id` IS NOT DISTINCT FROM b1_2.`car_id__id`
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      b1_3.`car_id` AS `k1`
    FROM `b1` AS b1_3
    GROUP BY
      b1_3.`car_id`
  ) AS g
), `b4_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`,
    dealers_3.`city` AS `city`,
    dealers_3.`rating` AS `rating`
  FROM `dealers` AS dealers_3
), `b4` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    NULL AS `car_id_2`,
    NULL AS `dealer_3`,
    NULL AS `n`
  FROM `b4_members` AS m
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
), `b5` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_dealer__id` AS `_0_dealer__id`,
    u.`_0_b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
    u.`_1_dealer__id` AS `_1_dealer__id`,
    u.`dealer` AS `dealer`,
    u.`city` AS `city`,
    u.`rating` AS `rating`,
    u.`car_id_2` AS `car_id_2`,
    u.`dealer_3` AS `dealer_3`,
    u.`n` AS `n`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`dealer__id` AS `_0_dealer__id`,
      t.`b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
      NULL AS `_1_dealer__id`,
      t.`dealer` AS `dealer`,
      t.`city` AS `city`,
      t.`rating` AS `rating`,
      t.`car_id_2` AS `car_id_2`,
      t.`dealer_3` AS `dealer_3`,
      t.`n` AS `n`
    FROM `b3` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_dealer__id`,
      NULL AS `_0_b1_2_car_id__id`,
      t.`dealer__id` AS `_1_dealer__id`,
      t.`dealer` AS `dealer`,
      t.`city` AS `city`,
      t.`rating` AS `rating`,
      NULL AS `car_id_2`,
      NULL AS `dealer_3`,
      NULL AS `n`
    FROM `b4` AS t
  ) AS u
), `b6_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    b5_2.`_branch` AS `b5_2__branch`,
    b5_2.`_0_dealer__id` AS `b5_2__0_dealer__id`,
    b5_2.`_0_b1_2_car_id__id` AS `b5_2__0_b1_2_car_id__id`,
    b5_2.`_1_dealer__id` AS `b5_2__1_dealer__id`,
    bids.`amount` AS `amount`,
    b5_2.`car_id_2` AS `car_id_2`
  FROM `bids` AS bids, `b5` AS b5_2
  WHERE
    b5_2.`car_id_2` = bids.`car_id`
), `b6` AS (
  SELECT
    g.`car_id_2` AS `car_id_2`,
    g.`n` AS `n`
  FROM (
    SELECT
      m.`car_id_2` AS `car_id_2`,
      b5_2.`n` AS `n`
    FROM `b6_members` AS m, `b5` AS b5_2
    WHERE
      m.`b5_2__branch` IS NOT DISTINCT FROM b5_2.`_branch`
      AND m.`b5_2__0_dealer__id` IS NOT DISTINCT FROM b5_2.`_0_dealer__id`
      AND m.`b5_2__0_b1_2_car_id__id` IS NOT DISTINCT FROM b5_2.`_0_b1_2_car_id__id`
      AND m.`b5_2__1_dealer__id` IS NOT DISTINCT FROM b5_2.`_1_dealer__id`
      AND m.`amount` > b5_2.`n`
    GROUP BY
      m.`car_id_2`,
      b5_2.`n`
  ) AS g
)
SELECT
  b5.`city` AS `city_2`,
  b5.`n` AS `n_2`,
  NAMED_STRUCT(
    'b5',
    NAMED_STRUCT(
      '_1',
      b5.`_branch`,
      '_2',
      b5.`_0_dealer__id`,
      '_3',
      b5.`_0_b1_2_car_id__id`,
      '_4',
      b5.`_1_dealer__id`
    ),
    'b6_absent',
    NAMED_STRUCT('_1', b5.`car_id_2`, '_2', b5.`n`)
  ) AS `_prov`
FROM `b5` AS b5
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b6` AS k
    WHERE
      k.`car_id_2` IS NOT DISTINCT FROM b5.`car_id_2`
      AND k.`n` IS NOT DISTINCT FROM b5.`n`
  )
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer_2 := cars.`dealer`
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer_2 := m.`dealer_2` (stable)
  output: row_number := ROW_NUMBER() OVER (PARTITION BY m.`dealer_2` ORDER BY m.`price`, m.`car_id` ASC)
b3: rows, identity dealer__id, b1_2_car_id__id (stable)
  core:
    scan: dealers as dealers_2
    potential: b1 as b1_2
    where: b1_2.`car_id` = dealers_2.`dealer`
    store: dealer := dealers_2.`dealer`
    store: b1_2_car_id__id := b1_2.`car_id__id`
    store: city := dealers_2.`city`
    store: rating := dealers_2.`rating`
    store: car_id_2 := b1_2.`car_id`
    store: dealer_3 := b1_2.`dealer_2`
  token: dealers as dealers_2 in dealer
  lookup: b1 as b1_2, b1_2_car_id__id <=> car_id__id
  key: dealer__id := m.`dealer`
  key: b1_2_car_id__id := m.`b1_2_car_id__id`
  output: dealer := m.`dealer` (stable)
  output: city := m.`city` (stable)
  output: rating := m.`rating` (stable)
  output: car_id_2 := m.`car_id_2` (stable)
  output: dealer_3 := m.`dealer_3` (stable)
  output: n := b1_2.`row_number`
b2: group, identity k1 (stable)
  lookup: b1 as b1_3, free
  key: k1 := b1_3.`car_id`
  output: k1 := g.`k1` (stable)
b4: rows, identity dealer__id (stable)
  core:
    scan: dealers as dealers_3
    store: dealer := dealers_3.`dealer`
    store: city := dealers_3.`city`
    store: rating := dealers_3.`rating`
  token: dealers as dealers_3 in dealer
  semi: not b2 on m.`dealer` = k1
  key: dealer__id := m.`dealer`
  output: dealer := m.`dealer` (stable)
  output: city := m.`city` (stable)
  output: rating := m.`rating` (stable)
  output: car_id_2 := NULL (stable)
  output: dealer_3 := NULL (stable)
  output: n := NULL (stable)
b5: union, identity _branch, _0_dealer__id, _0_b1_2_car_id__id, _1_dealer__id (stable)
  branch: b3
  branch: b4
  output: dealer := u.`dealer` (stable)
  output: city := u.`city` (stable)
  output: rating := u.`rating` (stable)
  output: car_id_2 := u.`car_id_2` (stable)
  output: dealer_3 := u.`dealer_3` (stable)
  output: n := u.`n`
b6: group, identity car_id_2, n (not stable)
  core:
    scan: bids as bids
    potential: b5 as b5_2
    where: b5_2.`car_id_2` = bids.`car_id`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: b5_2__branch := b5_2.`_branch`
    store: b5_2__0_dealer__id := b5_2.`_0_dealer__id`
    store: b5_2__0_b1_2_car_id__id := b5_2.`_0_b1_2_car_id__id`
    store: b5_2__1_dealer__id := b5_2.`_1_dealer__id`
    store: amount := bids.`amount`
    store: car_id_2 := b5_2.`car_id_2`
  token: bids as bids in bid, buyer
  lookup: b5 as b5_2, b5_2__branch <=> _branch, b5_2__0_dealer__id <=> _0_dealer__id, b5_2__0_b1_2_car_id__id <=> _0_b1_2_car_id__id, b5_2__1_dealer__id <=> _1_dealer__id
  condition: m.`amount` > b5_2.`n`
  key: car_id_2 := m.`car_id_2`
  key: n := b5_2.`n`
  output: car_id_2 := g.`car_id_2`
  output: n := g.`n`
b0: rows, identity b5__branch, b5__0_dealer__id, b5__0_b1_2_car_id__id, b5__1_dealer__id (stable)
  lookup: b5 as b5, free
  semi: not b6 on b5.`car_id_2` <=> car_id_2, b5.`n` <=> n
  key: b5__branch := b5.`_branch`
  key: b5__0_dealer__id := b5.`_0_dealer__id`
  key: b5__0_b1_2_car_id__id := b5.`_0_b1_2_car_id__id`
  key: b5__1_dealer__id := b5.`_1_dealer__id`
  output: city_2 := b5.`city` (stable)
  output: n_2 := b5.`n`

-- title: windows of groups
SELECT model, share FROM (
  SELECT model, sum(price) / sum(sum(price)) OVER (PARTITION BY model) AS share,
    rank() OVER (ORDER BY sum(price) DESC) AS r
  FROM cars GROUP BY model, dealer HAVING count(*) > 1) t
WHERE r <= 3
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`dealer` AS `dealer_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`dealer_2` AS `dealer_2`,
    g.`sum_price` AS `sum_price`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      m.`dealer_2` AS `dealer_2`,
      SUM(m.`price`) AS `sum_price`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`,
      m.`dealer_2`
  ) AS g
  WHERE
    g.`count` > 1
), `b2` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    b1.`dealer_2` AS `b1_dealer_2`,
    b1.`model_3` AS `model_2`,
    b1.`sum_price` / SUM(b1.`sum_price`) OVER (PARTITION BY b1.`model_3`) AS `share`,
    RANK() OVER (ORDER BY b1.`sum_price` DESC) AS `r`
  FROM `b1` AS b1
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`share` AS `share_2`,
  NAMED_STRUCT('b2', NAMED_STRUCT('_1', b2.`b1_model_3`, '_2', b2.`b1_dealer_2`)) AS `_prov`
FROM `b2` AS b2
WHERE
  b2.`r` <= 3
-- blocks
b1: group, identity model_3, dealer_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: dealer_2 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  key: dealer_2 := m.`dealer_2`
  aggregate: sum_price := SUM(m.`price`)
  aggregate: count := COUNT(*)
  having: g.`count` > 1
  having is monotone
  output: model_3 := g.`model_3` (stable)
  output: dealer_2 := g.`dealer_2` (stable)
  output: sum_price := g.`sum_price`
  output: count := g.`count`
b2: rows, identity b1_model_3, b1_dealer_2 (stable)
  lookup: b1 as b1, free
  key: b1_model_3 := b1.`model_3`
  key: b1_dealer_2 := b1.`dealer_2`
  output: model_2 := b1.`model_3` (stable)
  output: share := b1.`sum_price` / SUM(b1.`sum_price`) OVER (PARTITION BY b1.`model_3`)
  output: r := RANK() OVER (ORDER BY b1.`sum_price` DESC)
b0: rows, identity b2_b1_model_3, b2_b1_dealer_2 (stable)
  lookup: b2 as b2, free
  condition: b2.`r` <= 3
  key: b2_b1_model_3 := b2.`b1_model_3`
  key: b2_b1_dealer_2 := b2.`b1_dealer_2`
  output: model_4 := b2.`model_2` (stable)
  output: share_2 := b2.`share`

-- title: windows ordered outside
SELECT car_id FROM (SELECT car_id, rank() OVER (ORDER BY price) AS r FROM cars) t ORDER BY r DESC LIMIT 2
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  r.`car_id_4`,
  r.`_prov`
FROM (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_4`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`,
    RANK() OVER (ORDER BY m.`price`) AS `_o0`
  FROM `b0_members` AS m
) AS r
ORDER BY
  r.`_o0` DESC,
  r.`car_id` ASC
LIMIT 2

-- title: windows that choose
SELECT
  car_id,
  max_by(model, price) OVER (PARTITION BY dealer ORDER BY price) AS m,
  mode(model) OVER (PARTITION BY dealer) AS most,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY price) OVER (PARTITION BY dealer) AS p,
  listagg(model, ',') OVER (PARTITION BY dealer) AS models,
  listagg(model, ',') WITHIN GROUP (ORDER BY price) OVER (PARTITION BY dealer) AS by_price,
  string_agg(model) OVER (
    PARTITION BY dealer ORDER BY price ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
  ) AS two
FROM cars
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`model` AS `model`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`car_id` AS `car_id_2`,
  MAX_BY(m.`model`, CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END) OVER (PARTITION BY m.`dealer` ORDER BY m.`price`) AS `m`,
  MODE(m.`model`, TRUE) OVER (PARTITION BY m.`dealer`) AS `most`,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
    m.`price`) OVER (PARTITION BY m.`dealer`) AS `p`,
  LISTAGG(m.`model`, ',') OVER (
    PARTITION BY m.`dealer`
    ORDER BY m.`car_id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  ) AS `models`,
  LISTAGG(m.`model`, ',') WITHIN GROUP (ORDER BY
    m.`price`,
    m.`car_id` ASC) OVER (PARTITION BY m.`dealer`) AS `by_price`,
  STRING_AGG(m.`model`) OVER (
    PARTITION BY m.`dealer`
    ORDER BY m.`price`, m.`car_id` ASC
    ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
  ) AS `two`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m

-- title: windows that list
SELECT collect_list(price) OVER (ORDER BY model),
  nth_value(price, 3) IGNORE NULLS OVER (ORDER BY model RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
FROM cars
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    ROW_NUMBER() OVER (ORDER BY m.`model`, m.`car_id` ASC) AS `position__1`
  FROM `b1_members` AS m
)
SELECT
  TRANSFORM(
    ARRAY_SORT(
      COLLECT_LIST(
        CASE
          WHEN NOT b1.`price` IS NULL
          THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`)
        END
      ) OVER (ORDER BY b1.`model`),
      (l, r) -> l.at - r.at
    ),
    e -> e.value
  ) AS `collect_list_price_over_order_by_model`,
  GET(
    TRANSFORM(
      ARRAY_SORT(
        COLLECT_LIST(
          CASE
            WHEN NOT b1.`price` IS NULL
            THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`)
          END
        ) OVER (ORDER BY b1.`model` RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
        (l, r) -> l.at - r.at
      ),
      e -> e.value
    ),
    3 - 1
  ) AS `nth_value_price_3_ignore_nulls_over_orde`,
  NAMED_STRUCT('b1', b1.`car_id__id`) AS `_prov`
FROM `b1` AS b1

-- title: windows that tie
SELECT last_value(price) OVER w, first_value(price) OVER w, lag(price, 2) OVER w,
  first(price) FILTER (WHERE price > 1) OVER w, nth_value(price, 2) OVER w,
  last(price, true) OVER w, sum(price) OVER (ORDER BY model ROWS 1 PRECEDING),
  any_value(model) OVER (PARTITION BY dealer), sum(price) OVER w
FROM cars
WINDOW w AS (PARTITION BY dealer ORDER BY model)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    ROW_NUMBER() OVER (PARTITION BY m.`dealer` ORDER BY m.`model`, m.`car_id` ASC) AS `position__1`
  FROM `b1_members` AS m
)
SELECT
  MAX_BY(b1.`price`, b1.`position__1`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `last_value_price_over_partition_by_deale`,
  FIRST_VALUE(b1.`price`) OVER (
    PARTITION BY b1.`dealer`
    ORDER BY b1.`model`, b1.`car_id__id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS `first_value_price_over_partition_by_deal`,
  LAG(b1.`price`, 2) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`, b1.`car_id__id` ASC) AS `lag_price_2_over_partition_by_dealer_ord`,
  MIN_BY(b1.`price`, CASE WHEN b1.`price` > 1 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `first_price_filter_where_price_1_over_pa`,
  MIN_BY(b1.`price`, CASE WHEN b1.`position__1` = 2 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `nth_value_price_2_over_partition_by_deal`,
  MAX_BY(b1.`price`, CASE WHEN NOT b1.`price` IS NULL THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `last_price_true_over_partition_by_dealer`,
  SUM(b1.`price`) OVER (ORDER BY b1.`model`, b1.`car_id__id` ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS `sum_price_over_order_by_model_rows_betwe`,
  ANY_VALUE(b1.`model`) OVER (
    PARTITION BY b1.`dealer`
    ORDER BY b1.`car_id__id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS `any_value_model_over_partition_by_dealer`,
  SUM(b1.`price`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `sum_price_over_partition_by_dealer_order`,
  NAMED_STRUCT('b1', b1.`car_id__id`) AS `_prov`
FROM `b1` AS b1

-- title: windows twice
WITH n AS (SELECT model, row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM cars)
SELECT p.model, q.n FROM n p JOIN n q ON p.model = q.model AND p.n = q.n - 1
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY m.`price`, m.`car_id` ASC) AS `n`
  FROM `b1_members` AS m
)
SELECT
  b1.`model_2` AS `model_5`,
  b1_2.`n` AS `n_4`,
  NAMED_STRUCT('b1', b1.`car_id`, 'b1_2', b1_2.`car_id`) AS `_prov`
FROM `b1` AS b1, `b1` AS b1_2
WHERE
  b1.`model_2` = b1_2.`model_2` AND b1.`n` = b1_2.`n` - 1

-- title: windows united
SELECT car_id, count(*) OVER (PARTITION BY model) AS n FROM cars
UNION ALL
SELECT bid, amount FROM bids
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_2`,
    COUNT(*) OVER (PARTITION BY m.`model`) AS `n`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount_2`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    m.`bid` AS `bid_2`,
    m.`amount_2` AS `amount_2`,
    NAMED_STRUCT('bids', NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)) AS `_prov`
  FROM `b2_members` AS m
)
SELECT
  u.`car_id_2` AS `car_id_4`,
  u.`n` AS `n_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`car_id` AS `_0_car_id`,
    NULL AS `_1_bid`,
    NULL AS `_1_buyer`,
    t.`car_id_2` AS `car_id_2`,
    t.`n` AS `n`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_car_id`,
    t.`bid` AS `_1_bid`,
    t.`buyer` AS `_1_buyer`,
    t.`bid_2` AS `car_id_2`,
    t.`amount_2` AS `n`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u

-- title: window whose ties are in the order of the rows
SELECT model, row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM (SELECT model, price FROM cars ORDER BY dealer DESC) t
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_4`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  m.`model_4` AS `model_4`,
  ROW_NUMBER() OVER (PARTITION BY m.`model_4` ORDER BY m.`price`, m.`dealer` DESC, m.`car_id` ASC) AS `n`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m

-- title: ties in an order that a limit has used
SELECT model, row_number() OVER (ORDER BY model) AS n FROM (SELECT model, price FROM cars ORDER BY price LIMIT 3) t
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`
  FROM `b1_members` AS m
  ORDER BY
    m.`price_2` ASC,
    m.`car_id` ASC
  LIMIT 3
)
SELECT
  b1.`model_2` AS `model_3`,
  ROW_NUMBER() OVER (ORDER BY b1.`model_2`, b1.`price_2` ASC, b1.`car_id` ASC) AS `n`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1

-- title: window without order over sorted rows
SELECT model, last(price) OVER (PARTITION BY model) AS p FROM (SELECT model, price FROM cars ORDER BY dealer) t
-- error
UnsupportedError: a window without ORDER BY that follows the order of a derived table is not supported at 1:27
  SELECT model, last(price) OVER (PARTITION BY model) AS p FRO
                            ^^^^
Write the order in the window: OVER (PARTITION BY ... ORDER BY ...).
-- advised
SELECT model, last(price) OVER (PARTITION BY model ORDER BY dealer) AS p FROM cars

-- title: window with a constant order over rows sorted within tasks
SELECT row_number() OVER (PARTITION BY model ORDER BY 1) AS n FROM (SELECT * FROM cars DISTRIBUTE BY model SORT BY price) t
-- error
UnsupportedError: a window without ORDER BY that follows the order of a derived table is not supported at 1:21
  SELECT row_number() OVER (PARTITION BY model ORDER BY 1) AS 
                      ^^^^
Write the order in the window: OVER (PARTITION BY ... ORDER BY ...).
-- advised
SELECT row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM cars
