WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 10
)
SELECT
  r.`car_id_2`,
  r.`r`,
  r.`n`,
  r.`d`,
  r.`_prov`
FROM (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_2`,
    RANK() OVER (PARTITION BY m.`model` ORDER BY m.`price` DESC) AS `r`,
    ROW_NUMBER() OVER (ORDER BY m.`price` * 2, m.`car_id` ASC) AS `n`,
    m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`) AS `d`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`,
    m.`price` - AVG(m.`price`) OVER (PARTITION BY m.`model`) AS `_o0`,
    m.`car_id` AS `_o1`
  FROM `b0_members` AS m
) AS r
ORDER BY
  r.`_o0` ASC,
  r.`_o1` ASC,
  r.`car_id` ASC
LIMIT 3
