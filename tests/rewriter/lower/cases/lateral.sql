-- title: lateral aggregate
SELECT c.model, t.n FROM cars c, LATERAL (SELECT count(*) AS n FROM bids b WHERE b.car_id = c.car_id) t
-- expected
WITH `b1_members` AS (
  SELECT
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`car_id_3` AS `car_id_3_3`,
    CASE WHEN union_.`there` THEN 1 END AS `count`
  FROM (
    SELECT
      outer_.`car_id_3` AS `car_id_3`,
      TRUE AS `there`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars_2.`car_id` AS `car_id_3`
      FROM `cars` AS cars_2
    ) AS outer_
    WHERE
      bids.`car_id` = outer_.`car_id_3`
    UNION ALL
    SELECT
      outer__2.`car_id_3` AS `car_id_3`,
      FALSE AS `there`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM (
      SELECT DISTINCT
        cars_3.`car_id` AS `car_id_3`
      FROM `cars` AS cars_3
    ) AS outer__2
  ) AS union_
), `b1` AS (
  SELECT
    g.`car_id_3_3` AS `car_id_3_3`,
    g.`count` AS `n`,
    g.`car_id_3_3` AS `car_id_3_2`
  FROM (
    SELECT
      m.`car_id_3_3` AS `car_id_3_3`,
      COUNT(m.`count`) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id_3_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    b1.`car_id_3_3` AS `b1_car_id_3_3`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars, `b1` AS b1
  WHERE
    b1.`car_id_3_2` IS NOT DISTINCT FROM cars.`car_id`
)
SELECT
  m.`model_3` AS `model_3`,
  b1.`n` AS `n_2`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1', b1.`car_id_3_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_car_id_3_3` IS NOT DISTINCT FROM b1.`car_id_3_3`
-- blocks
b1: group, identity car_id_3_3 (stable)
  core:
    union: union_
      branch:
        scan: bids as bids
        values: outer_:
          scan: cars as cars_2
          store: car_id_3 := cars_2.`car_id`
        where: bids.`car_id` = outer_.`car_id_3`
        store: car_id_3 := outer_.`car_id_3`
        store: there := TRUE
        store: bids_bid := bids.`bid`
        store: bids_buyer := bids.`buyer`
      branch:
        values: outer__2:
          scan: cars as cars_3
          store: car_id_3 := cars_3.`car_id`
        store: car_id_3 := outer__2.`car_id_3`
        store: there := FALSE
        store: bids_bid := NULL
        store: bids_buyer := NULL
    store: bids_bid := union_.`bids_bid`
    store: bids_buyer := union_.`bids_buyer`
    store: car_id_3_3 := union_.`car_id_3`
    store: count := CASE WHEN union_.`there` THEN 1 END
  token: bids as bids in bids_bid, bids_buyer
  key: car_id_3_3 := m.`car_id_3_3`
  aggregate: count := COUNT(m.`count`)
  output: n := g.`count`
  output: car_id_3_2 := g.`car_id_3_3` (stable)
b0: rows, identity car_id, b1_car_id_3_3 (stable)
  core:
    scan: cars as cars
    potential: b1 as b1
    where: b1.`car_id_3_2` IS NOT DISTINCT FROM cars.`car_id`
    store: car_id := cars.`car_id`
    store: b1_car_id_3_3 := b1.`car_id_3_3`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1, b1_car_id_3_3 <=> car_id_3_3
  key: car_id := m.`car_id`
  key: b1_car_id_3_3 := m.`b1_car_id_3_3`
  output: model_3 := m.`model_3` (stable)
  output: n_2 := b1.`n`

-- title: lateral rows
SELECT c.model, t.buyer FROM cars c, LATERAL (SELECT buyer FROM bids b WHERE b.car_id = c.car_id) t
-- blocks
b0: rows, identity car_id, bid, buyer (stable)
  core:
    scan: cars as cars
    scan: bids as bids
    where: bids.`car_id` = cars.`car_id`
    store: car_id := cars.`car_id`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  token: bids as bids in bid, buyer
  key: car_id := m.`car_id`
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  output: model_2 := m.`model_2` (stable)
  output: buyer_3 := m.`buyer` (stable)

-- title: lateral top
SELECT c.model, t.buyer FROM cars c, LATERAL (SELECT buyer FROM bids b WHERE b.car_id = c.car_id LIMIT 2) t
-- blocks
b1: rows, identity bid, buyer, car_id_3_2__id (stable)
  core:
    scan: bids as bids
    values: outer_:
      scan: cars as cars_2
      store: car_id_3 := cars_2.`car_id`
    where: bids.`car_id` = outer_.`car_id_3`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: car_id_3_2 := outer_.`car_id_3`
  token: bids as bids in bid, buyer
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  key: car_id_3_2__id := m.`car_id_3_2`
  output: buyer_3 := m.`buyer` (stable)
  output: car_id_3_2 := m.`car_id_3_2` (stable)
  output: row_number_2 := ROW_NUMBER() OVER (PARTITION BY m.`car_id_3_2` ORDER BY NULL, (m.`bid`) ASC, (m.`buyer`) ASC)
b0: rows, identity car_id, b1_bid, b1_buyer, b1_car_id_3_2__id (stable)
  core:
    scan: cars as cars
    potential: b1 as b1
    where: b1.`car_id_3_2` IS NOT DISTINCT FROM cars.`car_id`
    store: car_id := cars.`car_id`
    store: b1_bid := b1.`bid`
    store: b1_buyer := b1.`buyer`
    store: b1_car_id_3_2__id := b1.`car_id_3_2__id`
    store: model_3 := cars.`model`
    store: buyer_5 := b1.`buyer_3`
  token: cars as cars in car_id
  lookup: b1 as b1, b1_bid <=> bid, b1_buyer <=> buyer, b1_car_id_3_2__id <=> car_id_3_2__id
  condition: b1.`row_number_2` <= 2
  key: car_id := m.`car_id`
  key: b1_bid := m.`b1_bid`
  key: b1_buyer := m.`b1_buyer`
  key: b1_car_id_3_2__id := m.`b1_car_id_3_2__id`
  output: model_3 := m.`model_3` (stable)
  output: buyer_5 := m.`buyer_5` (stable)
