-- title: lateral outer
SELECT c.model, t.buyer FROM cars c LEFT JOIN LATERAL (SELECT buyer FROM bids b WHERE b.car_id = c.car_id) t ON t.buyer > 'a'
-- expected
WITH `b1_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`car_id` AS `k1`
  FROM `bids` AS bids_2
  WHERE
    bids_2.`buyer` > 'a'
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
), `b0_members` AS (
  SELECT
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`bids_bid` AS `bids_bid`,
    outer_join.`bids_buyer` AS `bids_buyer`,
    outer_join.`car_id` AS `car_id`,
    outer_join.`asked` AS `asked`,
    outer_join.`model` AS `model_2`,
    outer_join.`buyer_2` AS `buyer_3`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`,
      bids.`buyer` AS `buyer_2`,
      bids.`bid` AS `bid`,
      bids.`car_id` AS `car_id_2`,
      bids.`buyer` AS `buyer`,
      bids.`amount` AS `amount`,
      cars.`car_id` AS `cars_car_id`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`,
      FALSE AS `asked`
    FROM `cars` AS cars, `bids` AS bids
    WHERE
      bids.`car_id` = cars.`car_id` AND bids.`buyer` > 'a'
    UNION ALL
    SELECT
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer`,
      NULL AS `buyer_2`,
      NULL AS `bid`,
      NULL AS `car_id_2`,
      NULL AS `buyer`,
      NULL AS `amount`,
      cars_2.`car_id` AS `cars_car_id`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`,
      TRUE AS `asked`
    FROM `cars` AS cars_2
  ) AS outer_join
)
SELECT
  m.`model_2` AS `model_2`,
  m.`buyer_3` AS `buyer_3`,
  NAMED_STRUCT(
    'cars',
    m.`cars_car_id`,
    'bids',
    NAMED_STRUCT('_1', m.`bids_bid`, '_2', m.`bids_buyer`),
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`car_id` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`car_id`
    )
  )
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids_2
    where: bids_2.`buyer` > 'a'
    store: bid := bids_2.`bid`
    store: buyer := bids_2.`buyer`
    store: k1 := bids_2.`car_id`
  token: bids as bids_2 in bid, buyer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity cars_car_id, bids_bid, bids_buyer (stable)
  core:
    union: outer_join
      branch:
        scan: cars as cars
        scan: bids as bids
        where: bids.`car_id` = cars.`car_id`
        where: bids.`buyer` > 'a'
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer := cars.`dealer`
        store: buyer_2 := bids.`buyer`
        store: bid := bids.`bid`
        store: car_id_2 := bids.`car_id`
        store: buyer := bids.`buyer`
        store: amount := bids.`amount`
        store: cars_car_id := cars.`car_id`
        store: bids_bid := bids.`bid`
        store: bids_buyer := bids.`buyer`
        store: asked := FALSE
      branch:
        scan: cars as cars_2
        store: car_id := cars_2.`car_id`
        store: model := cars_2.`model`
        store: price := cars_2.`price`
        store: dealer := cars_2.`dealer`
        store: buyer_2 := NULL
        store: bid := NULL
        store: car_id_2 := NULL
        store: buyer := NULL
        store: amount := NULL
        store: cars_car_id := cars_2.`car_id`
        store: bids_bid := NULL
        store: bids_buyer := NULL
        store: asked := TRUE
    store: cars_car_id := outer_join.`cars_car_id`
    store: bids_bid := outer_join.`bids_bid`
    store: bids_buyer := outer_join.`bids_buyer`
    store: car_id := outer_join.`car_id`
    store: asked := outer_join.`asked`
    store: model_2 := outer_join.`model`
    store: buyer_3 := outer_join.`buyer_2`
  token: cars as cars in cars_car_id
  token: bids as bids in bids_bid, bids_buyer
  semi: not b1 on m.`car_id` = k1 if m.`asked`
  key: cars_car_id := m.`cars_car_id`
  key: bids_bid := m.`bids_bid`
  key: bids_buyer := m.`bids_buyer`
  output: model_2 := m.`model_2` (stable)
  output: buyer_3 := m.`buyer_3` (stable)

-- title: outer join
SELECT d.city, c.price FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 2
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    where: cars_2.`price` > 10
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, cars_car_id (stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: cars.`dealer` = dealers.`dealer`
        where: cars.`price` > 10
        where: dealers.`rating` > 2
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_2 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := FALSE
      branch:
        scan: dealers as dealers_2
        store: dealer := dealers_2.`dealer`
        store: city := dealers_2.`city`
        store: rating := dealers_2.`rating`
        store: car_id := NULL
        store: model := NULL
        store: price := NULL
        store: dealer_2 := NULL
        store: dealers_dealer := dealers_2.`dealer`
        store: cars_car_id := NULL
        store: asked := COALESCE((dealers_2.`rating` > 2), FALSE)
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealer := outer_join.`dealer`
    store: asked := outer_join.`asked`
    store: city_2 := outer_join.`city`
    store: price_2 := outer_join.`price`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  output: city_2 := m.`city_2` (stable)
  output: price_2 := m.`price_2` (stable)

-- title: outer join chain
SELECT d.city, count(b.bid) AS n FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LEFT JOIN bids b ON b.car_id = c.car_id GROUP BY d.city
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b2: group, identity k1 (stable)
  core:
    scan: bids as bids_2
    store: bid := bids_2.`bid`
    store: buyer := bids_2.`buyer`
    store: k1 := bids_2.`car_id`
  token: bids as bids_2 in bid, buyer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: group, identity city_3 (stable)
  core:
    union: outer_join_3
      branch:
        union: outer_join
          branch:
            scan: dealers as dealers
            scan: cars as cars
            where: cars.`dealer` = dealers.`dealer`
            store: dealer := dealers.`dealer`
            store: city := dealers.`city`
            store: rating := dealers.`rating`
            store: car_id := cars.`car_id`
            store: model := cars.`model`
            store: price := cars.`price`
            store: dealer_2 := cars.`dealer`
            store: dealers_dealer := dealers.`dealer`
            store: cars_car_id := cars.`car_id`
            store: asked := FALSE
          branch:
            scan: dealers as dealers_2
            store: dealer := dealers_2.`dealer`
            store: city := dealers_2.`city`
            store: rating := dealers_2.`rating`
            store: car_id := NULL
            store: model := NULL
            store: price := NULL
            store: dealer_2 := NULL
            store: dealers_dealer := dealers_2.`dealer`
            store: cars_car_id := NULL
            store: asked := TRUE
        scan: bids as bids
        where: bids.`car_id` = outer_join.`car_id`
        store: dealer := outer_join.`dealer`
        store: city := outer_join.`city`
        store: rating := outer_join.`rating`
        store: car_id := outer_join.`car_id`
        store: model := outer_join.`model`
        store: price := outer_join.`price`
        store: dealer_2 := outer_join.`dealer_2`
        store: bid := bids.`bid`
        store: car_id_2 := bids.`car_id`
        store: buyer := bids.`buyer`
        store: amount := bids.`amount`
        store: dealers_dealers_dealer := outer_join.`dealers_dealer`
        store: cars_cars_car_id := outer_join.`cars_car_id`
        store: bids_bid := bids.`bid`
        store: bids_buyer := bids.`buyer`
        store: asked := outer_join.`asked`
        store: asked_2 := FALSE
      branch:
        union: outer_join_2
          branch:
            scan: dealers as dealers_3
            scan: cars as cars_3
            where: cars_3.`dealer` = dealers_3.`dealer`
            store: dealer := dealers_3.`dealer`
            store: city := dealers_3.`city`
            store: rating := dealers_3.`rating`
            store: car_id := cars_3.`car_id`
            store: model := cars_3.`model`
            store: price := cars_3.`price`
            store: dealer_2 := cars_3.`dealer`
            store: dealers_3_dealer := dealers_3.`dealer`
            store: cars_3_car_id := cars_3.`car_id`
            store: asked := FALSE
          branch:
            scan: dealers as dealers_4
            store: dealer := dealers_4.`dealer`
            store: city := dealers_4.`city`
            store: rating := dealers_4.`rating`
            store: car_id := NULL
            store: model := NULL
            store: price := NULL
            store: dealer_2 := NULL
            store: dealers_3_dealer := dealers_4.`dealer`
            store: cars_3_car_id := NULL
            store: asked := TRUE
        store: dealer := outer_join_2.`dealer`
        store: city := outer_join_2.`city`
        store: rating := outer_join_2.`rating`
        store: car_id := outer_join_2.`car_id`
        store: model := outer_join_2.`model`
        store: price := outer_join_2.`price`
        store: dealer_2 := outer_join_2.`dealer_2`
        store: bid := NULL
        store: car_id_2 := NULL
        store: buyer := NULL
        store: amount := NULL
        store: dealers_dealers_dealer := outer_join_2.`dealers_3_dealer`
        store: cars_cars_car_id := outer_join_2.`cars_3_car_id`
        store: bids_bid := NULL
        store: bids_buyer := NULL
        store: asked := outer_join_2.`asked`
        store: asked_2 := TRUE
    store: dealers_dealers_dealer := outer_join_3.`dealers_dealers_dealer`
    store: cars_cars_car_id := outer_join_3.`cars_cars_car_id`
    store: bids_bid := outer_join_3.`bids_bid`
    store: bids_buyer := outer_join_3.`bids_buyer`
    store: dealer := outer_join_3.`dealer`
    store: asked := outer_join_3.`asked`
    store: car_id := outer_join_3.`car_id`
    store: asked_2 := outer_join_3.`asked_2`
    store: city_3 := outer_join_3.`city`
    store: bid := outer_join_3.`bid`
  token: dealers as dealers in dealers_dealers_dealer
  token: cars as cars in cars_cars_car_id
  token: bids as bids in bids_bid, bids_buyer
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  semi: not b2 on m.`car_id` = k1 if m.`asked_2`
  key: city_3 := m.`city_3`
  aggregate: count_bid := COUNT(m.`bid`)
  output: city_2 := g.`city_3` (stable)
  output: n := g.`count_bid`

-- title: outer join filtered
SELECT d.city, c.model FROM (SELECT * FROM dealers WHERE dealer IN (SELECT car_id FROM bids)) d FULL JOIN cars c ON c.dealer = d.dealer
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
b2: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b3: group, identity k1 (stable)
  core:
    scan: dealers as dealers_3
    semi: b1 on dealers_3.`dealer` = k1
    store: dealer := dealers_3.`dealer`
  token: dealers as dealers_3 in dealer
  semi: b1 on m.`dealer` = k1
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, cars_car_id (stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: cars.`dealer` = dealers.`dealer`
        store: dealer_2 := dealers.`dealer`
        store: city_2 := dealers.`city`
        store: rating_2 := dealers.`rating`
        store: car_id_3 := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_3 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := TRUE
        store: asked_2 := FALSE
        store: asked_3 := FALSE
      branch:
        scan: dealers as dealers_2
        store: dealer_2 := dealers_2.`dealer`
        store: city_2 := dealers_2.`city`
        store: rating_2 := dealers_2.`rating`
        store: car_id_3 := NULL
        store: model := NULL
        store: price := NULL
        store: dealer_3 := NULL
        store: dealers_dealer := dealers_2.`dealer`
        store: cars_car_id := NULL
        store: asked := TRUE
        store: asked_2 := TRUE
        store: asked_3 := FALSE
      branch:
        scan: cars as cars_3
        store: dealer_2 := NULL
        store: city_2 := NULL
        store: rating_2 := NULL
        store: car_id_3 := cars_3.`car_id`
        store: model := cars_3.`model`
        store: price := cars_3.`price`
        store: dealer_3 := cars_3.`dealer`
        store: dealers_dealer := NULL
        store: cars_car_id := cars_3.`car_id`
        store: asked := FALSE
        store: asked_2 := FALSE
        store: asked_3 := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealer_2 := outer_join.`dealer_2`
    store: asked := outer_join.`asked`
    store: asked_2 := outer_join.`asked_2`
    store: dealer_3 := outer_join.`dealer_3`
    store: asked_3 := outer_join.`asked_3`
    store: city_3 := outer_join.`city_2`
    store: model_2 := outer_join.`model`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  semi: b1 on m.`dealer_2` = k1 if m.`asked`
  semi: not b2 on m.`dealer_2` = k1 if m.`asked_2`
  semi: not b3 on m.`dealer_3` = k1 if m.`asked_3`
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  output: city_3 := m.`city_3` (stable)
  output: model_2 := m.`model_2` (stable)

-- title: outer join full
SELECT dealer, city, model FROM dealers FULL JOIN cars USING (dealer)
-- expected
WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `k1`
  FROM `cars` AS cars_2
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
    dealers_3.`dealer` AS `dealer`
  FROM `dealers` AS dealers_3
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`dealer` AS `dealer`,
    outer_join.`asked` AS `asked`,
    outer_join.`dealer_2` AS `dealer_2`,
    outer_join.`asked_2` AS `asked_2`,
    outer_join.`city` AS `city_2`,
    outer_join.`model` AS `model_2`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer_2`,
      dealers.`dealer` AS `dealers_dealer`,
      cars.`car_id` AS `cars_car_id`,
      FALSE AS `asked`,
      FALSE AS `asked_2`
    FROM `dealers` AS dealers, `cars` AS cars
    WHERE
      dealers.`dealer` = cars.`dealer`
    UNION ALL
    SELECT
      dealers_2.`dealer` AS `dealer`,
      dealers_2.`city` AS `city`,
      dealers_2.`rating` AS `rating`,
      NULL AS `car_id`,
      NULL AS `model`,
      NULL AS `price`,
      NULL AS `dealer_2`,
      dealers_2.`dealer` AS `dealers_dealer`,
      NULL AS `cars_car_id`,
      TRUE AS `asked`,
      FALSE AS `asked_2`
    FROM `dealers` AS dealers_2
    UNION ALL
    SELECT
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      cars_3.`car_id` AS `car_id`,
      cars_3.`model` AS `model`,
      cars_3.`price` AS `price`,
      cars_3.`dealer` AS `dealer_2`,
      NULL AS `dealers_dealer`,
      cars_3.`car_id` AS `cars_car_id`,
      FALSE AS `asked`,
      TRUE AS `asked_2`
    FROM `cars` AS cars_3
  ) AS outer_join
)
SELECT
  COALESCE(m.`dealer`, m.`dealer_2`) AS `dealer_4`,
  m.`city_2` AS `city_2`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`dealer` END,
    'b2_2_absent',
    CASE WHEN m.`asked_2` THEN m.`dealer_2` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
  )
  AND (
    NOT m.`asked_2`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`dealer_2`
    )
  )
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b2: group, identity k1 (stable)
  core:
    scan: dealers as dealers_3
    store: dealer := dealers_3.`dealer`
  token: dealers as dealers_3 in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, cars_car_id (stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: dealers.`dealer` = cars.`dealer`
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_2 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := FALSE
        store: asked_2 := FALSE
      branch:
        scan: dealers as dealers_2
        store: dealer := dealers_2.`dealer`
        store: city := dealers_2.`city`
        store: rating := dealers_2.`rating`
        store: car_id := NULL
        store: model := NULL
        store: price := NULL
        store: dealer_2 := NULL
        store: dealers_dealer := dealers_2.`dealer`
        store: cars_car_id := NULL
        store: asked := TRUE
        store: asked_2 := FALSE
      branch:
        scan: cars as cars_3
        store: dealer := NULL
        store: city := NULL
        store: rating := NULL
        store: car_id := cars_3.`car_id`
        store: model := cars_3.`model`
        store: price := cars_3.`price`
        store: dealer_2 := cars_3.`dealer`
        store: dealers_dealer := NULL
        store: cars_car_id := cars_3.`car_id`
        store: asked := FALSE
        store: asked_2 := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealer := outer_join.`dealer`
    store: asked := outer_join.`asked`
    store: dealer_2 := outer_join.`dealer_2`
    store: asked_2 := outer_join.`asked_2`
    store: city_2 := outer_join.`city`
    store: model_2 := outer_join.`model`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  semi: not b2 on m.`dealer_2` = k1 if m.`asked_2`
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  output: dealer_4 := COALESCE(m.`dealer`, m.`dealer_2`) (stable)
  output: city_2 := m.`city_2` (stable)
  output: model_2 := m.`model_2` (stable)

-- title: outer join grouped
SELECT d.city, c.n FROM dealers d LEFT JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) c ON c.dealer = d.dealer
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_4 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: count := COUNT(*)
  output: dealer_4 := g.`dealer_4` (stable)
  output: count := g.`count`
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  outer lookup of factor: b1_match, b1 on m.`dealer` = dealer_4
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
  output: n_2 := b1_match.`count`

-- title: outer join many unique
SELECT b.bid, c.model, d.city, e.rating
FROM bids b LEFT JOIN cars c ON b.car_id = c.car_id LEFT JOIN dealers d ON d.dealer = c.dealer
  LEFT JOIN dealers e ON e.dealer = b.amount
-- blocks
b2: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
  token: cars as cars_2 in car_id
  key: k1 := m.`car_id`
  output: k1 := g.`k1` (stable)
b3: group, identity k1 (stable)
  core:
    scan: dealers as dealers_4
    store: dealer := dealers_4.`dealer`
  token: dealers as dealers_4 in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b1: rows, identity dealer (stable)
  core:
    scan: dealers as dealers_2
    store: dealer := dealers_2.`dealer`
    store: city_2 := dealers_2.`city`
    store: rating_2 := dealers_2.`rating`
  token: dealers as dealers_2 in dealer
  key: dealer := m.`dealer`
  output: dealer_3 := m.`dealer` (stable)
  output: city_2 := m.`city_2` (stable)
  output: rating_2 := m.`rating_2` (stable)
b0: rows, identity bids_bids_bid, bids_bids_buyer, cars_cars_car_id, dealers_3_dealer (stable)
  core:
    union: outer_join_3
      branch:
        union: outer_join
          branch:
            scan: bids as bids
            scan: cars as cars
            where: bids.`car_id` = cars.`car_id`
            store: bid := bids.`bid`
            store: car_id := bids.`car_id`
            store: buyer := bids.`buyer`
            store: amount := bids.`amount`
            store: car_id_2 := cars.`car_id`
            store: model := cars.`model`
            store: price := cars.`price`
            store: dealer := cars.`dealer`
            store: bids_bid := bids.`bid`
            store: bids_buyer := bids.`buyer`
            store: cars_car_id := cars.`car_id`
            store: asked := FALSE
          branch:
            scan: bids as bids_2
            store: bid := bids_2.`bid`
            store: car_id := bids_2.`car_id`
            store: buyer := bids_2.`buyer`
            store: amount := bids_2.`amount`
            store: car_id_2 := NULL
            store: model := NULL
            store: price := NULL
            store: dealer := NULL
            store: bids_bid := bids_2.`bid`
            store: bids_buyer := bids_2.`buyer`
            store: cars_car_id := NULL
            store: asked := TRUE
        scan: dealers as dealers_3
        where: dealers_3.`dealer` = outer_join.`dealer`
        store: bid := outer_join.`bid`
        store: car_id := outer_join.`car_id`
        store: buyer := outer_join.`buyer`
        store: amount := outer_join.`amount`
        store: car_id_2 := outer_join.`car_id_2`
        store: model := outer_join.`model`
        store: price := outer_join.`price`
        store: dealer := outer_join.`dealer`
        store: dealer_2 := dealers_3.`dealer`
        store: city := dealers_3.`city`
        store: rating := dealers_3.`rating`
        store: bids_bids_bid := outer_join.`bids_bid`
        store: bids_bids_buyer := outer_join.`bids_buyer`
        store: cars_cars_car_id := outer_join.`cars_car_id`
        store: dealers_3_dealer := dealers_3.`dealer`
        store: asked := outer_join.`asked`
        store: asked_2 := FALSE
      branch:
        union: outer_join_2
          branch:
            scan: bids as bids_3
            scan: cars as cars_3
            where: bids_3.`car_id` = cars_3.`car_id`
            store: bid := bids_3.`bid`
            store: car_id := bids_3.`car_id`
            store: buyer := bids_3.`buyer`
            store: amount := bids_3.`amount`
            store: car_id_2 := cars_3.`car_id`
            store: model := cars_3.`model`
            store: price := cars_3.`price`
            store: dealer := cars_3.`dealer`
            store: bids_3_bid := bids_3.`bid`
            store: bids_3_buyer := bids_3.`buyer`
            store: cars_3_car_id := cars_3.`car_id`
            store: asked := FALSE
          branch:
            scan: bids as bids_4
            store: bid := bids_4.`bid`
            store: car_id := bids_4.`car_id`
            store: buyer := bids_4.`buyer`
            store: amount := bids_4.`amount`
            store: car_id_2 := NULL
            store: model := NULL
            store: price := NULL
            store: dealer := NULL
            store: bids_3_bid := bids_4.`bid`
            store: bids_3_buyer := bids_4.`buyer`
            store: cars_3_car_id := NULL
            store: asked := TRUE
        store: bid := outer_join_2.`bid`
        store: car_id := outer_join_2.`car_id`
        store: buyer := outer_join_2.`buyer`
        store: amount := outer_join_2.`amount`
        store: car_id_2 := outer_join_2.`car_id_2`
        store: model := outer_join_2.`model`
        store: price := outer_join_2.`price`
        store: dealer := outer_join_2.`dealer`
        store: dealer_2 := NULL
        store: city := NULL
        store: rating := NULL
        store: bids_bids_bid := outer_join_2.`bids_3_bid`
        store: bids_bids_buyer := outer_join_2.`bids_3_buyer`
        store: cars_cars_car_id := outer_join_2.`cars_3_car_id`
        store: dealers_3_dealer := NULL
        store: asked := outer_join_2.`asked`
        store: asked_2 := TRUE
    store: bids_bids_bid := outer_join_3.`bids_bids_bid`
    store: bids_bids_buyer := outer_join_3.`bids_bids_buyer`
    store: cars_cars_car_id := outer_join_3.`cars_cars_car_id`
    store: dealers_3_dealer := outer_join_3.`dealers_3_dealer`
    store: car_id := outer_join_3.`car_id`
    store: asked := outer_join_3.`asked`
    store: dealer := outer_join_3.`dealer`
    store: asked_2 := outer_join_3.`asked_2`
    store: amount := outer_join_3.`amount`
    store: bid_2 := outer_join_3.`bid`
    store: model_2 := outer_join_3.`model`
    store: city_3 := outer_join_3.`city`
  token: bids as bids in bids_bids_bid, bids_bids_buyer
  token: cars as cars in cars_cars_car_id
  token: dealers as dealers_3 in dealers_3_dealer
  outer lookup of factor: b1_match, b1 on m.`amount` = dealer_3
  semi: not b2 on m.`car_id` = k1 if m.`asked`
  semi: not b3 on m.`dealer` = k1 if m.`asked_2`
  key: bids_bids_bid := m.`bids_bids_bid`
  key: bids_bids_buyer := m.`bids_bids_buyer`
  key: cars_cars_car_id := m.`cars_cars_car_id`
  key: dealers_3_dealer := m.`dealers_3_dealer`
  output: bid_2 := m.`bid_2` (stable)
  output: model_2 := m.`model_2` (stable)
  output: city_3 := m.`city_3` (stable)
  output: rating_3 := b1_match.`rating_2`

-- title: outer join rejected
SELECT d.city, count(*) AS n
FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LEFT JOIN bids b ON b.car_id = c.car_id + 1
WHERE NOT b.amount IS NULL OR b.buyer LIKE 'a%' AND b.amount * 2 > 3 OR b.amount BETWEEN 1 AND 2
GROUP BY d.city
-- blocks
b0: group, identity city_3 (stable)
  core:
    scan: dealers as dealers
    scan: cars as cars
    scan: bids as bids
    where: cars.`dealer` = dealers.`dealer`
    where: bids.`car_id` = cars.`car_id` + 1
    where: NOT bids.`amount` IS NULL OR bids.`buyer` LIKE 'a%' AND bids.`amount` * 2 > 3 OR bids.`amount` BETWEEN 1 AND 2
    store: dealer := dealers.`dealer`
    store: car_id := cars.`car_id`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: city_3 := dealers.`city`
  token: dealers as dealers in dealer
  token: cars as cars in car_id
  token: bids as bids in bid, buyer
  key: city_3 := m.`city_3`
  aggregate: count := COUNT(*)
  output: city_2 := g.`city_3` (stable)
  output: n := g.`count`

-- title: outer join right inequality
SELECT d.city, c.model FROM dealers d RIGHT JOIN cars c ON c.price > d.rating
-- expected
WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    outer_.`price` AS `price`
  FROM `dealers` AS dealers_2, (
    SELECT DISTINCT
      cars_3.`price` AS `price`
    FROM `cars` AS cars_3
  ) AS outer_
  WHERE
    outer_.`price` > dealers_2.`rating`
), `b1` AS (
  SELECT
    g.`price` AS `price`
  FROM (
    SELECT
      m.`price` AS `price`
    FROM `b1_members` AS m
    GROUP BY
      m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`price` AS `price`,
    outer_join.`asked` AS `asked`,
    outer_join.`city` AS `city_2`,
    outer_join.`model` AS `model_2`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer_2`,
      dealers.`dealer` AS `dealers_dealer`,
      cars.`car_id` AS `cars_car_id`,
      FALSE AS `asked`
    FROM `dealers` AS dealers, `cars` AS cars
    WHERE
      cars.`price` > dealers.`rating`
    UNION ALL
    SELECT
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer_2`,
      NULL AS `dealers_dealer`,
      cars_2.`car_id` AS `cars_car_id`,
      TRUE AS `asked`
    FROM `cars` AS cars_2
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`price` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`price` IS NOT DISTINCT FROM m.`price`
    )
  )
-- blocks
b1: group, identity price (stable)
  core:
    scan: dealers as dealers_2
    values: outer_:
      scan: cars as cars_3
      store: price := cars_3.`price`
    where: outer_.`price` > dealers_2.`rating`
    store: dealer := dealers_2.`dealer`
    store: price := outer_.`price`
  token: dealers as dealers_2 in dealer
  key: price := m.`price`
  output: price := g.`price` (stable)
b0: rows, identity dealers_dealer, cars_car_id (stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: cars.`price` > dealers.`rating`
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_2 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := FALSE
      branch:
        scan: cars as cars_2
        store: dealer := NULL
        store: city := NULL
        store: rating := NULL
        store: car_id := cars_2.`car_id`
        store: model := cars_2.`model`
        store: price := cars_2.`price`
        store: dealer_2 := cars_2.`dealer`
        store: dealers_dealer := NULL
        store: cars_car_id := cars_2.`car_id`
        store: asked := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: price := outer_join.`price`
    store: asked := outer_join.`asked`
    store: city_2 := outer_join.`city`
    store: model_2 := outer_join.`model`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  semi: not b1 on m.`price` <=> price if m.`asked`
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  output: city_2 := m.`city_2` (stable)
  output: model_2 := m.`model_2` (stable)

-- title: outer join unique
SELECT c.model, d.city FROM cars c LEFT JOIN dealers d ON d.dealer = c.dealer
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: dealers as dealers_2
    store: dealer := dealers_2.`dealer`
  token: dealers as dealers_2 in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b0: rows, identity cars_car_id, dealers_dealer (stable)
  core:
    union: outer_join
      branch:
        scan: cars as cars
        scan: dealers as dealers
        where: dealers.`dealer` = cars.`dealer`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer := cars.`dealer`
        store: dealer_2 := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: cars_car_id := cars.`car_id`
        store: dealers_dealer := dealers.`dealer`
        store: asked := FALSE
      branch:
        scan: cars as cars_2
        store: car_id := cars_2.`car_id`
        store: model := cars_2.`model`
        store: price := cars_2.`price`
        store: dealer := cars_2.`dealer`
        store: dealer_2 := NULL
        store: city := NULL
        store: rating := NULL
        store: cars_car_id := cars_2.`car_id`
        store: dealers_dealer := NULL
        store: asked := TRUE
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: dealer := outer_join.`dealer`
    store: asked := outer_join.`asked`
    store: model_2 := outer_join.`model`
    store: city_2 := outer_join.`city`
  token: cars as cars in cars_car_id
  token: dealers as dealers in dealers_dealer
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  key: cars_car_id := m.`cars_car_id`
  key: dealers_dealer := m.`dealers_dealer`
  output: model_2 := m.`model_2` (stable)
  output: city_2 := m.`city_2` (stable)

-- title: raising of padded
SELECT d.city FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer WHERE d.rating / coalesce(c.price, 0) > 1
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`dealer`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, cars_car_id (stable)
  core:
    union: outer_join
      branch:
        scan: dealers as dealers
        scan: cars as cars
        where: cars.`dealer` = dealers.`dealer`
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer_2 := cars.`dealer`
        store: dealers_dealer := dealers.`dealer`
        store: cars_car_id := cars.`car_id`
        store: asked := FALSE
      branch:
        scan: dealers as dealers_2
        store: dealer := dealers_2.`dealer`
        store: city := dealers_2.`city`
        store: rating := dealers_2.`rating`
        store: car_id := NULL
        store: model := NULL
        store: price := NULL
        store: dealer_2 := NULL
        store: dealers_dealer := dealers_2.`dealer`
        store: cars_car_id := NULL
        store: asked := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: cars_car_id := outer_join.`cars_car_id`
    store: dealer := outer_join.`dealer`
    store: asked := outer_join.`asked`
    store: rating := outer_join.`rating`
    store: price := outer_join.`price`
    store: city_2 := outer_join.`city`
  token: dealers as dealers in dealers_dealer
  token: cars as cars in cars_car_id
  semi: not b1 on m.`dealer` = k1 if m.`asked`
  condition: m.`rating` / COALESCE(m.`price`, 0) > 1
  key: dealers_dealer := m.`dealers_dealer`
  key: cars_car_id := m.`cars_car_id`
  output: city_2 := m.`city_2` (stable)
