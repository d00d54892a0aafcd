WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `partition0`,
    NAMED_STRUCT(
      'key0',
      cars.`price`,
      'key1',
      cars.`car_id`,
      'row',
      NAMED_STRUCT('car_id', cars.`car_id`, 'model', cars.`model`, 'price', cars.`price`, 'dealer', cars.`dealer`)
    ) AS `rows`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`partition0` AS `partition0`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      m.`partition0` AS `partition0`,
      COLLECT_LIST(m.`rows`) AS `rows`
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
  FROM `b1` AS b1, LATERAL WORDS_CARRIER(
    TRANSFORM(
      ARRAY_SORT(
        TRANSFORM(b1.`rows`, e -> NAMED_STRUCT('item', e, 'text', CAST(e.row AS STRING))),
        (l, r) -> CASE
          WHEN l.item.key0 IS NULL AND NOT r.item.key0 IS NULL
          THEN 1
          WHEN NOT l.item.key0 IS NULL AND r.item.key0 IS NULL
          THEN -1
          WHEN l.item.key0 < r.item.key0
          THEN 1
          WHEN l.item.key0 > r.item.key0
          THEN -1
          WHEN l.item.key1 IS NULL AND NOT r.item.key1 IS NULL
          THEN -1
          WHEN NOT l.item.key1 IS NULL AND r.item.key1 IS NULL
          THEN 1
          WHEN l.item.key1 < r.item.key1
          THEN -1
          WHEN l.item.key1 > r.item.key1
          THEN 1
          WHEN l.text < r.text
          THEN -1
          WHEN l.text > r.text
          THEN 1
          ELSE 0
        END
      ),
      e -> e.item.row
    ),
    0
  ) AS generated(`at`, `word`, `size`)
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
