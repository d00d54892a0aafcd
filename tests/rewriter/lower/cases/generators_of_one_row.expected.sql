WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`max_model` AS `m`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MAX(m.`model`) AS `max_model`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_2` AS `dealer_5`,
    generated_2.`year` AS `year_2`
  FROM `b1` AS b1, `dealers` AS dealers
  LATERAL VIEW
  JSON_TUPLE(dealers.`city`, 'year') generated_2 AS `year`
  WHERE
    dealers.`dealer` = b1.`dealer_2`
)
SELECT
  m.`dealer_5` AS `dealer_5`,
  generated.`city_2` AS `city_3`,
  m.`year_2` AS `year_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
LATERAL VIEW
JSON_TUPLE(b1.`m`, 'city') generated AS `city_2`
WHERE
  m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3`
