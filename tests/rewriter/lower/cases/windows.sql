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
  output: n := ROW_NUMBER() OVER (ORDER BY m.`price` * 2, (m.`car_id`) ASC)
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
  output: row_number := ROW_NUMBER() OVER (PARTITION BY m.`dealer_2` ORDER BY m.`price`, (m.`car_id`) ASC)
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
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: car_id_4 := m.`car_id` (stable)
  order: RANK() OVER (ORDER BY m.`price`) DESC NULLS LAST
  limit: 2 offset 0

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
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer := cars.`dealer`
    store: model := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: car_id_2 := m.`car_id` (stable)
  output: m := MAX_BY(m.`model`, CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END) OVER (PARTITION BY m.`dealer` ORDER BY m.`price`)
  output: most := MODE(m.`model`, TRUE) OVER (PARTITION BY m.`dealer`)
  output: p := PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY m.`price`) OVER (PARTITION BY m.`dealer`)
  output: models := LISTAGG(m.`model`, ',') OVER (PARTITION BY m.`dealer` ORDER BY (m.`car_id`) ASC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  output: by_price := LISTAGG(m.`model`, ',') WITHIN GROUP (ORDER BY m.`price`, (m.`car_id`) ASC) OVER (PARTITION BY m.`dealer`)
  output: two := STRING_AGG(m.`model`) OVER (PARTITION BY m.`dealer` ORDER BY m.`price`, (m.`car_id`) ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)

-- title: windows that list
SELECT collect_list(price) OVER (ORDER BY model),
  nth_value(price, 3) IGNORE NULLS OVER (ORDER BY model RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
FROM cars
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
  output: position__1 := ROW_NUMBER() OVER (ORDER BY m.`model`, (m.`car_id`) ASC)
b0: rows, identity b1_car_id__id (stable)
  lookup: b1 as b1, free
  key: b1_car_id__id := b1.`car_id__id`
  output: collect_list_price_over_order_by_model := TRANSFORM(ARRAY_SORT(COLLECT_LIST(CASE WHEN NOT b1.`price` IS NULL THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`) END) OVER (ORDER BY b1.`model`), (l, r) -> l.at - r.at), e -> e.value)
  output: nth_value_price_3_ignore_nulls_over_orde := GET(TRANSFORM(ARRAY_SORT(COLLECT_LIST(CASE WHEN NOT b1.`price` IS NULL THEN NAMED_STRUCT('at', b1.`position__1`, 'value', b1.`price`) END) OVER (ORDER BY b1.`model` RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), (l, r) -> l.at - r.at), e -> e.value), 3 - 1)

-- title: windows that tie
SELECT last_value(price) OVER w, first_value(price) OVER w, lag(price, 2) OVER w,
  first(price) FILTER (WHERE price > 1) OVER w, nth_value(price, 2) OVER w,
  last(price, true) OVER w, sum(price) OVER (ORDER BY model ROWS 1 PRECEDING),
  any_value(model) OVER (PARTITION BY dealer), sum(price) OVER w
FROM cars
WINDOW w AS (PARTITION BY dealer ORDER BY model)
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
  output: position__1 := ROW_NUMBER() OVER (PARTITION BY m.`dealer` ORDER BY m.`model`, (m.`car_id`) ASC)
b0: rows, identity b1_car_id__id (stable)
  lookup: b1 as b1, free
  key: b1_car_id__id := b1.`car_id__id`
  output: last_value_price_over_partition_by_deale := MAX_BY(b1.`price`, b1.`position__1`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`)
  output: first_value_price_over_partition_by_deal := FIRST_VALUE(b1.`price`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`, (b1.`car_id__id`) ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  output: lag_price_2_over_partition_by_dealer_ord := LAG(b1.`price`, 2) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`, (b1.`car_id__id`) ASC)
  output: first_price_filter_where_price_1_over_pa := MIN_BY(b1.`price`, CASE WHEN b1.`price` > 1 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`)
  output: nth_value_price_2_over_partition_by_deal := MIN_BY(b1.`price`, CASE WHEN b1.`position__1` = 2 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`)
  output: last_price_true_over_partition_by_dealer := MAX_BY(b1.`price`, CASE WHEN NOT b1.`price` IS NULL THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`)
  output: sum_price_over_order_by_model_rows_betwe := SUM(b1.`price`) OVER (ORDER BY b1.`model`, (b1.`car_id__id`) ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  output: any_value_model_over_partition_by_dealer := ANY_VALUE(b1.`model`) OVER (PARTITION BY b1.`dealer` ORDER BY (b1.`car_id__id`) ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  output: sum_price_over_partition_by_dealer_order := SUM(b1.`price`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`)

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
    ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY m.`price`, (
      m.`car_id`
    ) ASC) AS `n`
  FROM `b1_members` AS m
)
SELECT
  b1.`model_2` AS `model_5`,
  b1_2.`n` AS `n_4`,
  NAMED_STRUCT('b1', b1.`car_id`, 'b1_2', b1_2.`car_id`) AS `_prov`
FROM `b1` AS b1, `b1` AS b1_2
WHERE
  b1.`model_2` = b1_2.`model_2` AND b1.`n` = b1_2.`n` - 1
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: n := ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY m.`price`, (m.`car_id`) ASC)
b0: rows, identity b1_car_id, b1_2_car_id (stable)
  lookup: b1 as b1, free
  lookup: b1 as b1_2, free
  condition: b1.`model_2` = b1_2.`model_2`
  condition: b1.`n` = b1_2.`n` - 1
  key: b1_car_id := b1.`car_id`
  key: b1_2_car_id := b1_2.`car_id`
  output: model_5 := b1.`model_2` (stable)
  output: n_4 := b1_2.`n`

-- title: windows united
SELECT car_id, count(*) OVER (PARTITION BY model) AS n FROM cars
UNION ALL
SELECT bid, amount FROM bids
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: car_id_2 := m.`car_id` (stable)
  output: n := COUNT(*) OVER (PARTITION BY m.`model`)
b2: rows, identity bid, buyer (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount_2 := bids.`amount`
  token: bids as bids in bid, buyer
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  output: bid_2 := m.`bid` (stable)
  output: amount_2 := m.`amount_2` (stable)
b0: union, identity _branch, _0_car_id, _1_bid, _1_buyer (stable)
  branch: b1
  branch: b2
  output: car_id_4 := u.`car_id_2` (stable)
  output: n_2 := u.`n`

-- title: window whose ties are in the order of the rows
SELECT model, row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM (SELECT model, price FROM cars ORDER BY dealer DESC) t
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_4 := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_4 := m.`model_4` (stable)
  output: n := ROW_NUMBER() OVER (PARTITION BY m.`model_4` ORDER BY m.`price`, (m.`dealer`) DESC, (m.`car_id`) ASC)

-- title: ties in an order that a limit has used
SELECT model, row_number() OVER (ORDER BY model) AS n FROM (SELECT model, price FROM cars ORDER BY price LIMIT 3) t
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price_2 := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: price_2 := m.`price_2` (stable)
  order: m.`price_2` ASC NULLS FIRST
  limit: 3 offset 0
b0: rows, identity b1_car_id (stable)
  lookup: b1 as b1, free
  key: b1_car_id := b1.`car_id`
  output: model_3 := b1.`model_2` (stable)
  output: n := ROW_NUMBER() OVER (ORDER BY b1.`model_2`, (b1.`price_2`) ASC, (b1.`car_id`) ASC)

-- title: window without order over sorted rows
SELECT model, last(price) OVER (PARTITION BY model) AS p FROM (SELECT model, price FROM cars ORDER BY dealer) t
-- error
UnsupportedError: a window without ORDER BY that follows the order of a derived table is not supported at 1:27
  SELECT model, last(price) OVER (PARTITION BY model) AS p FRO
                            ^^^^
Write the order in the window, and the frame if it has all rows: OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING).
-- advised
SELECT model, last(price) OVER (PARTITION BY model ORDER BY dealer ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS p FROM cars

-- title: window with a constant order over rows sorted within tasks
SELECT row_number() OVER (PARTITION BY model ORDER BY 1) AS n FROM (SELECT * FROM cars DISTRIBUTE BY model SORT BY price) t
-- error
UnsupportedError: a window without ORDER BY that follows the order of a derived table is not supported at 1:21
  SELECT row_number() OVER (PARTITION BY model ORDER BY 1) AS 
                      ^^^^
Write the order in the window, and the frame if it has all rows: OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING).
-- advised
SELECT row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM cars
