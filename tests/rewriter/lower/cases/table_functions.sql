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
-- expected
WITH `b1_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`car_id` AS `k1`
  FROM `bids` AS bids_2
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
    outer_join.`amount` AS `amount`,
    outer_join.`model` AS `model_2`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`,
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
      cars.`car_id` = bids.`car_id`
    UNION ALL
    SELECT
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer`,
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
  NAMED_STRUCT(
    'cars',
    m.`cars_car_id`,
    'bids',
    NAMED_STRUCT('_1', m.`bids_bid`, '_2', m.`bids_buyer`),
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`car_id` END
  ) AS `_prov`
FROM (
  SELECT
    m.*,
    MONOTONICALLY_INCREASING_ID() AS `_number`
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
) AS m
WHERE
  m.`_number` >= 0 AND WORDS(m.`amount`) > 1

-- title: table function
SELECT u.word, count(*) AS n
FROM cars c JOIN dealers d ON c.dealer = d.dealer, LATERAL words(c.model, d.city) AS u(word, size)
WHERE u.size > 3
GROUP BY u.word
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    dealers.`dealer` AS `dealer`,
    generated.`word` AS `word_3`
  FROM `cars` AS cars, `dealers` AS dealers, LATERAL WORDS(cars.`model`, dealers.`city`) AS generated(`word`, `size`)
  WHERE
    cars.`dealer` = dealers.`dealer` AND generated.`size` > 3
)
SELECT
  g.`word_3` AS `word_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`word_3` AS `word_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'dealers', m.`dealer`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`word_3`
) AS g
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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `partition0`,
    NAMED_STRUCT('car_id', cars.`car_id`, 'model', cars.`model`, 'price', cars.`price`, 'dealer', cars.`dealer`) AS `rows`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`partition0` AS `partition0`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      m.`partition0` AS `partition0`,
      ARRAY_COMPACT(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(NAMED_STRUCT('value', m.`rows`, 'key0', m.`price`, 'key1', m.`car_id`)),
            (l, r) -> CASE
              WHEN l.key0 IS NULL AND NOT r.key0 IS NULL
              THEN 1
              WHEN NOT l.key0 IS NULL AND r.key0 IS NULL
              THEN -1
              WHEN l.key0 < r.key0
              THEN 1
              WHEN l.key0 > r.key0
              THEN -1
              WHEN l.key1 IS NULL AND NOT r.key1 IS NULL
              THEN -1
              WHEN NOT l.key1 IS NULL AND r.key1 IS NULL
              THEN 1
              WHEN l.key1 < r.key1
              THEN -1
              WHEN l.key1 > r.key1
              THEN 1
              ELSE 0
            END
          ),
          e -> e.value
        )
      ) AS `rows`
    FROM `b1_members` AS m
    GROUP BY
      m.`partition0`
  ) AS g
), `b2` AS (
  SELECT
    b1.`partition0` AS `b1_partition0`,
    generated.`at` AS `at`,
    generated.`word` AS `word_2`,
    generated.`size` AS `size_2`
  FROM `b1` AS b1, LATERAL WORDS_CARRIER(b1.`rows`, 0) AS generated(`at`, `word`, `size`)
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model`,
    cars_2.`price` AS `price_3`
  FROM `cars` AS cars_2
)
SELECT
  b2.`word_2` AS `word_3`,
  m.`price_3` AS `price_3`,
  NAMED_STRUCT('cars_2', m.`car_id`, 'b2', NAMED_STRUCT('_1', b2.`b1_partition0`, '_2', b2.`at`)) AS `_prov`
FROM `b0_members` AS m, `b2` AS b2
WHERE
  m.`model` = b2.`word_2`
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
