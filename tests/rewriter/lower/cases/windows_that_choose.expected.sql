WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`model` AS `model`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`car_id` AS `car_id_2`,
  MAX_BY(m.`model`, CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END) OVER (PARTITION BY m.`dealer` ORDER BY m.`price`) AS `m`,
  MODE(m.`model`, TRUE) OVER (PARTITION BY m.`dealer`) AS `most`,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
    m.`price`) OVER (PARTITION BY m.`dealer`) AS `p`,
  LISTAGG(m.`model`, ',') OVER (
    PARTITION BY m.`dealer`
    ORDER BY m.`car_id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  ) AS `models`,
  LISTAGG(m.`model`, ',') WITHIN GROUP (ORDER BY
    m.`price`,
    m.`car_id` ASC) OVER (PARTITION BY m.`dealer`) AS `by_price`,
  STRING_AGG(m.`model`) OVER (
    PARTITION BY m.`dealer`
    ORDER BY m.`price`, m.`car_id` ASC
    ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
  ) AS `two`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
