WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`collect_list_model` AS `value`,
    g.`dealer_3` AS `dealer_4`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COLLECT_LIST(m.`model`) AS `collect_list_model`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  CASE WHEN b1_value.`dealer_4` IS NULL THEN ARRAY() ELSE b1_value.`value` END AS `models`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_4` = m.`dealer`
