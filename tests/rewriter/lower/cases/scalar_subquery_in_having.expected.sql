WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`max_amount_2` AS `max_amount`
  FROM (
    SELECT
      MAX(m.`amount`) AS `max_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    SUM(m.`price`) AS `sum_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`sum_price` > (
    SELECT
      b1_value.`max_amount`
    FROM `b1` AS b1_value
  )
