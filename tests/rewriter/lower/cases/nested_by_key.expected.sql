WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`model_3` AS `model_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`model_3` AS `model_2`,
    g.`sum_price` AS `p`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      m.`model_3` AS `model_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`,
      m.`model_3`
  ) AS g
)
SELECT
  g.`dealer_5` AS `dealer_4`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    b1.`dealer_2` AS `dealer_5`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('b1', NAMED_STRUCT('_1', b1.`dealer_3`, '_2', b1.`model_3`))) AS `_prov`
  FROM `b1` AS b1
  GROUP BY
    b1.`dealer_2`
) AS g
