WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    RAND() AS `drawn`
  FROM `b1` AS b1
), `b2` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`b1_model_3` AS `model_3`,
    b1.`sum_price` AS `sum_price`,
    m.`drawn` AS `drawn`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
)
SELECT
  b2.`model_3` AS `model_2`,
  b2.`sum_price` AS `s`,
  b2.`drawn` AS `r`,
  NAMED_STRUCT('b2', b2.`b1_model_3`) AS `_prov`
FROM `b2` AS b2
