WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`sum_price` AS `s`
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
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_2` AS `model_2`,
    RAND(3) AS `drawn`
  FROM (
    SELECT
      b1.`model_3` AS `b1_model_3`,
      b1.`model_2` AS `model_2`,
      b1.`model_2` AS `_order 0`,
      b1.`model_3` AS `_order 1`
    FROM `b1` AS b1
    SORT BY
      `_order 0` ASC,
      `_order 1` ASC
  ) AS m
), `b2` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_2` AS `model_2`,
    b1.`s` AS `s`,
    m.`drawn` AS `drawn`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`s` AS `s_2`,
  NAMED_STRUCT('b2', b2.`b1_model_3`) AS `_prov`
FROM `b2` AS b2
WHERE
  b2.`drawn` < 0.5
