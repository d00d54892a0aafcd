WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`,
    RAND() AS `drawn`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    b1.`car_id__id` AS `b1_car_id__id`,
    b1.`model` AS `model_2`,
    b1.`drawn` AS `r`,
    UUID() AS `drawn_2`,
    RAND() AS `drawn_3`
  FROM `b1` AS b1
  WHERE
    b1.`drawn` < 0.5
), `b2` AS (
  SELECT
    m.`b1_car_id__id` AS `b1_car_id__id`,
    m.`model_2` AS `model_2`,
    m.`r` AS `r`,
    m.`drawn_2` AS `drawn_2`,
    m.`drawn_3` AS `drawn_3`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_car_id__id` IS NOT DISTINCT FROM b1.`car_id__id`
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`r` AS `r_3`,
  b2.`drawn_2` AS `u_2`,
  NAMED_STRUCT('b2', b2.`b1_car_id__id`) AS `_prov`
FROM `b2` AS b2
ORDER BY
  b2.`drawn_3` ASC,
  b2.`b1_car_id__id` ASC
LIMIT 3
