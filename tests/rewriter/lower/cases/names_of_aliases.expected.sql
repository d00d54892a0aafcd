WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars_2.`car_id` AS `car_id_2`,
    cars_2_2.`car_id` AS `car_id_3`
  FROM `cars` AS cars, `cars` AS cars_2, `cars_2` AS cars_2_2
  WHERE
    cars.`car_id` = cars_2.`car_id` AND cars_2.`car_id` = cars_2_2.`car_id`
)
SELECT
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT('cars', m.`car_id`, 'cars_2', m.`car_id_2`, 'cars_2_2', m.`car_id_3`)
    ) AS `_prov`
  FROM `b0_members` AS m
) AS g
