WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`count` AS `count`
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
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  b1_match.`count` AS `n_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_match', b1_match.`dealer_4`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_match
  ON b1_match.`dealer_4` = m.`dealer`
