WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`dealer_4` AS `dealer_3`,
    g.`sum_price` AS `p`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    g.`avg_price_2` AS `a`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_price_2`
    FROM `b2_members` AS m
  ) AS g
), `b3` AS (
  SELECT
    g.`dealer_7` AS `dealer_7`,
    g.`dealer_7` AS `dealer_6`
  FROM (
    SELECT
      b1.`dealer_3` AS `dealer_7`
    FROM `b1` AS b1, `b2` AS b2
    WHERE
      b1.`p` > b2.`a`
    GROUP BY
      b1.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b3.`dealer_7` AS `b3_dealer_7`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `b3` AS b3
  WHERE
    dealers.`dealer` = b3.`dealer_6`
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b3', b3.`dealer_7`) AS `_prov`
FROM `b0_members` AS m, `b3` AS b3
WHERE
  m.`b3_dealer_7` IS NOT DISTINCT FROM b3.`dealer_7`
