WITH `b0_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`model_3` AS `model_4`
  FROM (
    SELECT
      cars.`model` AS `model_3`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `model_3`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
  ) AS union_
)
SELECT
  g.`model_4` AS `model_4`,
  g.`_prov`
FROM (
  SELECT
    m.`model_4` AS `model_4`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`cars_car_id`, 'dealers', m.`dealers_dealer`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_4`
) AS g
