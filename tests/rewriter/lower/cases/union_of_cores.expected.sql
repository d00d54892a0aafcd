WITH `b0_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`name_2` AS `name_2`
  FROM (
    SELECT
      cars.`model` AS `name_2`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `name_2`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
    WHERE
      dealers.`rating` > 3
  ) AS union_
)
SELECT
  m.`name_2` AS `name_2`,
  NAMED_STRUCT('cars', m.`cars_car_id`, 'dealers', m.`dealers_dealer`) AS `_prov`
FROM `b0_members` AS m
