WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`sum_price` AS `p`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
)
SELECT
  b1.`dealer_2` AS `dealer_6`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b1_2', b1_2.`dealer_3`) AS `_prov`
FROM `b1` AS b1, `b1` AS b1_2
WHERE
  b1.`p` > b1_2.`p`
