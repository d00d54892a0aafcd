-- title: parts grouped
SELECT c.model, count(*) AS n, max(d.rating) AS best FROM cars c JOIN dealers d ON c.price > d.rating + (SELECT avg(amount) FROM bids) WHERE c.price > (SELECT min(amount) FROM bids) AND d.city IN (SELECT city FROM dealers WHERE rating > 3) GROUP BY c.model
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`avg_amount_2` AS `avg_amount`,
    g.`min_amount_2` AS `min_amount`
  FROM (
    SELECT
      AVG(m.`amount`) AS `avg_amount_2`,
      MIN(m.`amount`) AS `min_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b3_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b3` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`
  FROM `b3_members` AS m
  WHERE
    m.`price` > (
      SELECT
        b1_value_2.`min_amount`
      FROM `b1` AS b1_value_2
    )
), `b2_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `k1`
  FROM `dealers` AS dealers_2
  WHERE
    dealers_2.`rating` > 3
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
), `b4_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`,
    dealers.`rating` AS `rating`
  FROM `dealers` AS dealers
), `b4` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`rating` AS `rating`
  FROM `b4_members` AS m
  WHERE
    EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`city`
    )
)
SELECT
  g.`model_3` AS `model_2`,
  g.`count` AS `n`,
  g.`max_rating` AS `best`,
  g.`_prov`
FROM (
  SELECT
    b3.`model` AS `model_3`,
    COUNT(*) AS `count`,
    MAX(b4.`rating`) AS `max_rating`,
    COLLECT_LIST(
      NAMED_STRUCT('b3', b3.`car_id`, 'b4', b4.`dealer`, 'max_rating_value', b4.`rating`)
    ) AS `_prov`
  FROM `b3` AS b3, `b4` AS b4
  WHERE
    b3.`price` > b4.`rating` + (
      SELECT
        b1_value.`avg_amount`
      FROM `b1` AS b1_value
    )
  GROUP BY
    b3.`model`
) AS g
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  aggregate: avg_amount_2 := AVG(m.`amount`)
  aggregate: min_amount_2 := MIN(m.`amount`)
  output: avg_amount := g.`avg_amount_2`
  output: min_amount := g.`min_amount_2`
b3: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1_value_2, scalar
  condition: m.`price` > b1_value_2.`min_amount`
  key: car_id := m.`car_id`
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
b2: group, identity k1 (stable)
  core:
    scan: dealers as dealers_2
    where: dealers_2.`rating` > 3
    store: dealer := dealers_2.`dealer`
    store: k1 := dealers_2.`city`
  token: dealers as dealers_2 in dealer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b4: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b2 on dealers.`city` = k1
    store: dealer := dealers.`dealer`
    store: city := dealers.`city`
    store: rating := dealers.`rating`
  token: dealers as dealers in dealer
  semi: b2 on m.`city` = k1
  key: dealer := m.`dealer`
  output: rating := m.`rating` (stable)
b0: group, identity model_3 (stable)
  lookup: b3 as b3, free
  lookup: b4 as b4, free
  lookup: b1 as b1_value, scalar
  condition: b3.`price` > b4.`rating` + b1_value.`avg_amount`
  key: model_3 := b3.`model`
  aggregate: count := COUNT(*)
  aggregate: max_rating := MAX(b4.`rating`)
  output: model_2 := g.`model_3` (stable)
  output: n := g.`count`
  output: best := g.`max_rating`

-- title: parts joined by rank
WITH t AS (SELECT dealer, rank() OVER (ORDER BY avg(price)) AS place FROM cars GROUP BY dealer), n AS (SELECT buyer, rank() OVER (ORDER BY sum(amount)) AS place FROM bids GROUP BY buyer) SELECT t.place, d.city, b.bid FROM t, n, dealers d, bids b WHERE t.place = n.place AND t.place < 3 AND d.dealer = t.dealer AND b.buyer = n.buyer ORDER BY t.place, b.bid
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: avg_price := AVG(m.`price`)
  output: dealer_3 := g.`dealer_3` (stable)
  output: avg_price := g.`avg_price`
b2: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_4 := b1.`dealer_3` (stable)
  output: place_2 := RANK() OVER (ORDER BY b1.`avg_price`)
b5: rows, identity dealer, b2_b1_dealer_3 (stable)
  core:
    potential: b2 as b2
    scan: dealers as dealers
    where: dealers.`dealer` = b2.`dealer_4`
    store: dealer := dealers.`dealer`
    store: b2_b1_dealer_3 := b2.`b1_dealer_3`
    store: city := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b2 as b2, b2_b1_dealer_3 <=> b1_dealer_3
  condition: b2.`place_2` < 3
  key: dealer := m.`dealer`
  key: b2_b1_dealer_3 := m.`b2_b1_dealer_3`
  output: place_2 := b2.`place_2`
  output: city := m.`city` (stable)
b3: group, identity buyer_3 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  key: buyer_3 := m.`buyer`
  aggregate: sum_amount := SUM(m.`amount`)
  output: buyer_3 := g.`buyer_3` (stable)
  output: sum_amount := g.`sum_amount`
b4: rows, identity b3_buyer_3 (stable)
  lookup: b3 as b3, free
  key: b3_buyer_3 := b3.`buyer_3`
  output: buyer_4 := b3.`buyer_3` (stable)
  output: place_4 := RANK() OVER (ORDER BY b3.`sum_amount`)
b6: rows, identity bid__id, buyer, b4_b3_buyer_3 (stable)
  core:
    potential: b4 as b4
    scan: bids as bids_2
    where: bids_2.`buyer` = b4.`buyer_4`
    store: bid := bids_2.`bid`
    store: buyer := bids_2.`buyer`
    store: b4_b3_buyer_3 := b4.`b3_buyer_3`
  token: bids as bids_2 in bid, buyer
  lookup: b4 as b4, b4_b3_buyer_3 <=> b3_buyer_3
  key: bid__id := m.`bid`
  key: buyer := m.`buyer`
  key: b4_b3_buyer_3 := m.`b4_b3_buyer_3`
  output: bid := m.`bid` (stable)
  output: place_4 := b4.`place_4`
b0: rows, identity b5_dealer, b5_b2_b1_dealer_3, b6_bid__id, b6_buyer, b6_b4_b3_buyer_3 (stable)
  lookup: b5 as b5, free
  lookup: b6 as b6, free
  condition: b5.`place_2` = b6.`place_4`
  key: b5_dealer := b5.`dealer`
  key: b5_b2_b1_dealer_3 := b5.`b2_b1_dealer_3`
  key: b6_bid__id := b6.`bid__id`
  key: b6_buyer := b6.`buyer`
  key: b6_b4_b3_buyer_3 := b6.`b4_b3_buyer_3`
  output: place_5 := b5.`place_2`
  output: city_2 := b5.`city` (stable)
  output: bid_3 := b6.`bid` (stable)
  order: b5.`place_2` ASC NULLS FIRST
  order: b6.`bid` ASC NULLS FIRST
