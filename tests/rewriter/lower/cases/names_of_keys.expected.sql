WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`car_id` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`
  ) AS g
), `b0_members` AS (
  SELECT
    k_.`x` AS `x`,
    k_.`y` AS `y_2`
  FROM `k` AS k_
)
SELECT
  m.`y_2` AS `y_2`,
  NAMED_STRUCT('k_', m.`x`, 'b1_exists', m.`x`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = m.`x`
  )
