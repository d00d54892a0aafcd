-- title: registered aggregate
SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer HAVING middle(price, dealer) > 2
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`middle_price` AS `m`,
  g.`_prov`
FROM (
  SELECT
    own.`dealer_3` AS `dealer_3`,
    own.`_prov` AS `_prov`,
    opaque.`middle_price` AS `middle_price`,
    opaque.`middle_price_dealer` AS `middle_price_dealer`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COLLECT_LIST(
        NAMED_STRUCT(
          'cars',
          m.`car_id`,
          'middle_price_value',
          m.`price`,
          'middle_price_dealer_value',
          NAMED_STRUCT('_1', m.`price`, '_2', m.`dealer_3`)
        )
      ) AS `_prov`
    FROM `b0_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS own, (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MIDDLE(m.`price`) AS `middle_price`,
      MIDDLE(m.`price`, m.`dealer_3`) AS `middle_price_dealer`
    FROM `b0_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS opaque
  WHERE
    own.`dealer_3` IS NOT DISTINCT FROM opaque.`dealer_3`
) AS g
WHERE
  g.`middle_price_dealer` > 2
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: middle_price := MIDDLE(m.`price`)
  aggregate: middle_price_dealer := MIDDLE(m.`price`, m.`dealer_3`)
  having: g.`middle_price_dealer` > 2
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)
  output: m := g.`middle_price`

-- title: registered function of padded rows
SELECT cars.model FROM cars LEFT JOIN bids ON cars.car_id = bids.car_id WHERE words(bids.amount) > 1
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids_2
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
        where: cars.`car_id` = bids.`car_id`
        store: car_id := cars.`car_id`
        store: model := cars.`model`
        store: price := cars.`price`
        store: dealer := cars.`dealer`
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
    store: amount := outer_join.`amount`
    store: model_2 := outer_join.`model`
  token: cars as cars in cars_car_id
  token: bids as bids in bids_bid, bids_buyer
  semi: not b1 on m.`car_id` = k1 if m.`asked`
  condition: WORDS(m.`amount`) > 1
  key: cars_car_id := m.`cars_car_id`
  key: bids_bid := m.`bids_bid`
  key: bids_buyer := m.`bids_buyer`
  output: model_2 := m.`model_2` (stable)

-- title: table function
SELECT u.word, count(*) AS n
FROM cars c JOIN dealers d ON c.dealer = d.dealer, LATERAL words(c.model, d.city) AS u(word, size)
WHERE u.size > 3
GROUP BY u.word
-- blocks
b0: group, identity word_3 (stable)
  core:
    scan: cars as cars
    scan: dealers as dealers
    generate: WORDS(cars.`model`, dealers.`city`) as generated(row, word, size)
    where: cars.`dealer` = dealers.`dealer`
    where: generated.`size` > 3
    store: car_id := cars.`car_id`
    store: dealer := dealers.`dealer`
    store: word_3 := generated.`word`
  token: cars as cars in car_id
  token: dealers as dealers in dealer
  key: word_3 := m.`word_3`
  aggregate: count := COUNT(*)
  output: word_2 := g.`word_3` (stable)
  output: n := g.`count`

-- title: table function of aggregate
SELECT d.dealer, u.word
FROM (SELECT dealer, max(model) AS model FROM cars GROUP BY dealer) d, LATERAL words(d.model) AS u(word)
-- error
UnsupportedError: a table function of aggregated values is not supported at 2:72
  FROM cars GROUP BY dealer) d, LATERAL words(d.model) AS u(wo
                                ^^^^^^^
Store its arguments in a relation and track it.

-- title: table function of generated
SELECT g.id, u.word
FROM (SELECT id, x FROM nested LATERAL VIEW explode(arr) e AS x) g, LATERAL words(g.x) AS u(word)
-- error
UnsupportedError: a table function of generated columns is not supported at 2:69
   VIEW explode(arr) e AS x) g, LATERAL words(g.x) AS u(word)
                                ^^^^^^^
Store its arguments in a relation and track it.

-- title: table function of relation
SELECT w.word, c.price
FROM words(TABLE(cars) PARTITION BY dealer ORDER BY (price DESC, car_id)) w
JOIN cars c ON c.model = w.word
-- blocks
b1: group, identity partition0 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: partition0 := cars.`dealer`
    store: rows := NAMED_STRUCT('car_id', cars.`car_id`, 'model', cars.`model`, 'price', cars.`price`, 'dealer', cars.`dealer`)
    store: price := cars.`price`
  token: cars as cars in car_id
  key: partition0 := m.`partition0`
  aggregate: rows := COLLECT_LIST(m.`rows`) WITHIN GROUP (ORDER BY m.`price` DESC, m.`car_id` ASC)
  output: partition0 := g.`partition0` (stable)
  output: rows := g.`rows`
b2: rows, identity b1_partition0, at (not stable)
  lookup: b1 as b1, free
  generate placed: WORDS_CARRIER(b1.`rows`, 0) as generated(at, word, size)
  key: b1_partition0 := b1.`partition0`
  key: at := generated.`at`
  output: word_2 := generated.`word`
  output: size_2 := generated.`size`
b0: rows, identity car_id, b2_b1_partition0, b2_at (not stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: model := cars_2.`model`
    store: price_3 := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b2 as b2, free
  condition: m.`model` = b2.`word_2`
  key: car_id := m.`car_id`
  key: b2_b1_partition0 := b2.`b1_partition0`
  key: b2_at := b2.`at`
  output: word_3 := b2.`word_2`
  output: price_3 := m.`price_3` (stable)
