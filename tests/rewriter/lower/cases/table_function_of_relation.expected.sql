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
