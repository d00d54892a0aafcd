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
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_4` AS `b1_dealer_4`,
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `b1` AS b1
  WHERE
    dealers.`dealer` = b1.`dealer_3`
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_4`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_4` IS NOT DISTINCT FROM b1.`dealer_4` AND b1.`p` > m.`rating`
