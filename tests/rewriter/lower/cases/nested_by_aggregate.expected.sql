WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
)
SELECT
  g.`n_3` AS `n_2`,
  g.`count_2` AS `groups`,
  g.`_prov`
FROM (
  SELECT
    b1.`n` AS `n_3`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`dealer_3`)) AS `_prov`
  FROM `b1` AS b1
  GROUP BY
    b1.`n`
) AS g
