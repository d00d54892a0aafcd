WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`dealer` AS `dealer_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`dealer_2` AS `dealer_2`,
    g.`sum_price` AS `sum_price`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      m.`dealer_2` AS `dealer_2`,
      SUM(m.`price`) AS `sum_price`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`,
      m.`dealer_2`
  ) AS g
  WHERE
    g.`count` > 1
), `b2` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    b1.`dealer_2` AS `b1_dealer_2`,
    b1.`model_3` AS `model_2`,
    b1.`sum_price` / SUM(b1.`sum_price`) OVER (PARTITION BY b1.`model_3`) AS `share`,
    RANK() OVER (ORDER BY b1.`sum_price` DESC) AS `r`
  FROM `b1` AS b1
)
SELECT
  b2.`model_2` AS `model_4`,
  b2.`share` AS `share_2`,
  NAMED_STRUCT('b2', NAMED_STRUCT('_1', b2.`b1_model_3`, '_2', b2.`b1_dealer_2`)) AS `_prov`
FROM `b2` AS b2
WHERE
  b2.`r` <= 3
