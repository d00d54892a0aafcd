WITH `b1_members` AS (
  SELECT
    m.`car_id`,
    m.`model`,
    m.`price`,
    m.`dealer`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`
    FROM `cars` AS cars
  ) TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS m
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`
  FROM `b1_members` AS m
)
SELECT
  g.`model_3` AS `model_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    b1.`model` AS `model_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`car_id__id`)) AS `_prov`
  FROM `b1` AS b1
  WHERE
    b1.`price` > 100
  GROUP BY
    b1.`model`
) AS g
