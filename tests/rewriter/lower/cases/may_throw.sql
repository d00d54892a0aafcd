-- title: raising after having
SELECT d.city, t.share FROM (SELECT dealer, 100 / dealer AS share, count(*) AS n FROM cars GROUP BY dealer HAVING count(*) <> 1) t JOIN dealers d ON d.dealer = t.dealer WHERE d.rating < t.share
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    100 / g.`dealer_3` AS `share`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
  WHERE
    g.`count` <> 1
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_3` AS `b1_dealer_3`,
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    dealers.`dealer` = b1.`dealer_2`
)
SELECT
  m.`city_2` AS `city_2`,
  b1.`share` AS `share_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3` AND m.`rating` < b1.`share`
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  having: g.`count` <> 1
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)
  output: share := 100 / g.`dealer_3`
  output: n := g.`count`
b0: rows, identity dealer, b1_dealer_3 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: dealers.`dealer` = b1.`dealer_2`
    store: dealer := dealers.`dealer`
    store: b1_dealer_3 := b1.`dealer_3`
    store: rating := dealers.`rating`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_3 <=> dealer_3
  condition: m.`rating` < b1.`share`
  key: dealer := m.`dealer`
  key: b1_dealer_3 := m.`b1_dealer_3`
  output: city_2 := m.`city_2` (stable)
  output: share_2 := b1.`share`

-- title: raising after limit
SELECT 100 / price AS share FROM (SELECT price FROM cars ORDER BY car_id LIMIT 2) t
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price_3 := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: price_3 := m.`price_3` (stable)
  order: m.`car_id` ASC NULLS FIRST
  limit: 2 offset 0
b0: rows, identity b1_car_id (stable)
  lookup: b1 as b1, free
  key: b1_car_id := b1.`car_id`
  output: share := 100 / b1.`price_3` (stable)

-- title: raising after subquery
SELECT c.car_id FROM cars c WHERE c.price > (SELECT min(price) FROM cars) AND 100 / c.price > 2
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: min_price_2 := MIN(m.`price`)
  output: min_price := g.`min_price_2`
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1_value, scalar
  condition: m.`price` > b1_value.`min_price`
  condition: 100 / m.`price` > 2
  key: car_id := m.`car_id`
  output: car_id_3 := m.`car_id` (stable)

-- title: raising in core after having
SELECT d.city, 100 / (d.rating - t.dealer) AS share FROM (SELECT dealer FROM cars GROUP BY dealer HAVING count(*) <> 1) t JOIN dealers d ON d.dealer = t.dealer
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  having: g.`count` <> 1
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)
b0: rows, identity dealer, b1_dealer_3 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: dealers.`dealer` = b1.`dealer_2`
    store: dealer := dealers.`dealer`
    store: b1_dealer_3 := b1.`dealer_3`
    store: city_2 := dealers.`city`
    store: rating := dealers.`rating`
    store: dealer_2 := b1.`dealer_2`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_3 <=> dealer_3
  key: dealer := m.`dealer`
  key: b1_dealer_3 := m.`b1_dealer_3`
  output: city_2 := m.`city_2` (stable)
  output: share := 100 / (m.`rating` - m.`dealer_2`) (stable)

-- title: raising key of members
SELECT d.city, t.share FROM (SELECT DISTINCT 100 / c.price AS share FROM cars c WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id)) t JOIN dealers d ON d.rating = t.share
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `k1`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b2_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b2` AS (
  SELECT
    g.`share_2` AS `share_2`
  FROM (
    SELECT
      100 / m.`price` AS `share_2`
    FROM `b2_members` AS m
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM `b1` AS k
        WHERE
          k.`k1` = m.`car_id`
      )
    GROUP BY
      100 / m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b2.`share_2` AS `b2_share_2`,
    dealers.`city` AS `city_2`
  FROM `b2` AS b2, `dealers` AS dealers
  WHERE
    dealers.`rating` = b2.`share_2`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`b2_share_2` AS `share_3`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2', b2.`share_2`) AS `_prov`
FROM `b0_members` AS m, `b2` AS b2
WHERE
  m.`b2_share_2` IS NOT DISTINCT FROM b2.`share_2`
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: k1 := bids.`car_id`
  token: bids as bids in bid, buyer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b2: group, identity share_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  semi: not b1 on m.`car_id` = k1
  key: share_2 := 100 / m.`price`
  output: share_2 := g.`share_2` (stable)
b0: rows, identity dealer, b2_share_2 (stable)
  core:
    potential: b2 as b2
    scan: dealers as dealers
    where: dealers.`rating` = b2.`share_2`
    store: dealer := dealers.`dealer`
    store: b2_share_2 := b2.`share_2`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b2 as b2, b2_share_2 <=> share_2
  key: dealer := m.`dealer`
  key: b2_share_2 := m.`b2_share_2`
  output: city_2 := m.`city_2` (stable)
  output: share_3 := m.`b2_share_2` (stable)

-- title: overflow after condition of tail
SELECT c.model FROM (SELECT rating, count(*) AS n FROM dealers GROUP BY rating) d JOIN cars c ON d.n > c.price AND d.rating + 1 = c.car_id
-- blocks
b1: group, identity rating_3 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: rating_3 := dealers.`rating`
  token: dealers as dealers in dealer
  key: rating_3 := m.`rating_3`
  aggregate: count := COUNT(*)
  output: rating_2 := g.`rating_3` (stable)
  output: n := g.`count`
b0: rows, identity car_id, b1_rating_3 (stable)
  core:
    potential: b1 as b1
    scan: cars as cars
    where: b1.`rating_2` + 1 = cars.`car_id`
    store: car_id := cars.`car_id`
    store: b1_rating_3 := b1.`rating_3`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1, b1_rating_3 <=> rating_3
  condition: b1.`n` > m.`price`
  key: car_id := m.`car_id`
  key: b1_rating_3 := m.`b1_rating_3`
  output: model_2 := m.`model_2` (stable)
