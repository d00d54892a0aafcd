WITH `b1_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`model_3__5` AS `model_3`,
    union_.`side__6` AS `side__6`
  FROM (
    SELECT
      cars.`model` AS `model_3__5`,
      0 AS `side__6`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `model_3__5`,
      1 AS `side__6`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
  ) AS union_
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`left__7` - g.`right__8` AS `copies__9`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(1 - m.`side__6`) AS `left__7`,
      SUM(m.`side__6`) AS `right__8`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
  WHERE
    g.`left__7` - g.`right__8` > 0
)
SELECT
  b1.`model_3` AS `model_3`,
  NAMED_STRUCT('b1', b1.`model_3`) AS `_prov`
FROM `b1` AS b1
LATERAL VIEW
EXPLODE(SEQUENCE(1, b1.`copies__9`)) copies AS `copy`
