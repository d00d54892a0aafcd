WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
  WHERE
    g.`count` <> 1
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_3` AS `b1_dealer_3`,
    dealers.`city` AS `city_2`,
    dealers.`rating` AS `rating`,
    b1.`dealer_2` AS `dealer_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    dealers.`dealer` = b1.`dealer_2`
)
SELECT
  m.`city_2` AS `city_2`,
  100 / (
    m.`rating` - m.`dealer_2`
  ) AS `share`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3`
