WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_5`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  g.`model_5` AS `model_4`,
  g.`collect_list_price_3` AS `prices`,
  g.`collect_set_price_3`[0] AS `least`,
  g.`_prov`
FROM (
  SELECT
    m.`model_5` AS `model_5`,
    ARRAY_COMPACT(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(NAMED_STRUCT('value', m.`price`, 'key0', m.`dealer`, 'key1', m.`car_id`)),
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
    ) AS `collect_list_price_3`,
    ARRAY_SORT(COLLECT_SET(m.`price`)) AS `collect_set_price_3`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'collect_list_price_3_value',
        NAMED_STRUCT('_1', m.`price`, '_2', m.`dealer`, '_3', m.`car_id`),
        'collect_set_price_3_value',
        NAMED_STRUCT('_1', m.`price`, '_2', m.`price`)
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_5`
) AS g
