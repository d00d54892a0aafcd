WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 10
), `b1` AS (
  SELECT
    g.`model_2` AS `model_2`,
    g.`dealer_3` AS `dealer_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`model_2` AS `model_2`,
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_2`,
      m.`dealer_3`
  ) AS g
  WHERE
    g.`sum_price` IS NOT NULL
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      b1.`dealer_3` AS `k1`
    FROM `b1` AS b1
    GROUP BY
      b1.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2_exists', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = m.`dealer`
  )
