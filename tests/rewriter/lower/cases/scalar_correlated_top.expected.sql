WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`car_id_3` AS `car_id_3_2`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars.`car_id` AS `car_id_3`
    FROM `cars` AS cars
  ) AS outer_
  WHERE
    bids.`car_id` = outer_.`car_id_3`
), `b1` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    m.`car_id_3_2` AS `car_id_3_2__id`,
    m.`buyer` AS `buyer_3`,
    m.`car_id_3_2` AS `car_id_3_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`car_id_3_2` ORDER BY m.`amount` DESC, m.`bid` ASC, m.`buyer` ASC) AS `row_number_2`
  FROM `b1_members` AS m
), `b2` AS (
  SELECT
    g.`car_id_3_4` AS `car_id_3_4`,
    g.`buyer_5` AS `buyer_5`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      b1.`car_id_3_2` AS `car_id_3_4`,
      MAX(b1.`buyer_3`) AS `buyer_5`,
      COUNT(*) AS `rows`
    FROM `b1` AS b1
    WHERE
      b1.`row_number_2` <= 1
    GROUP BY
      b1.`car_id_3_2`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  CASE
    WHEN b2_value.`rows` > 1
    THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.')
    ELSE b2_value.`buyer_5`
  END AS `buyer_6`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b2` AS b2_value
  ON b2_value.`car_id_3_4` IS NOT DISTINCT FROM m.`car_id`
