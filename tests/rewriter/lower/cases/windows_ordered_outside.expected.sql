WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  r.`car_id_4`,
  r.`_prov`
FROM (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_4`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`,
    RANK() OVER (ORDER BY m.`price`) AS `_o0`
  FROM `b0_members` AS m
) AS r
ORDER BY
  r.`_o0` DESC,
  r.`car_id` ASC
LIMIT 2
