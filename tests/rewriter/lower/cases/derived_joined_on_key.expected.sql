WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`dealer_4` AS `dealer_3`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_4` AS `b1_dealer_4`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `b1` AS b1
  WHERE
    dealers.`dealer` = b1.`dealer_3`
)
SELECT
  m.`city_2` AS `city_2`,
  b1.`n` AS `n_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_4`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_4` IS NOT DISTINCT FROM b1.`dealer_4`
