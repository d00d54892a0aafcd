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
  g.`count_3` AS `count_2`,
  g.`_prov`
FROM (
  SELECT
    expanded.`number` AS `grouping_set`,
    CASE WHEN expanded.`number` IN (0) THEN b1.`n` END AS `n_3`,
    COUNT(*) AS `count_3`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`dealer_3`)) AS `_prov`
  FROM `b1` AS b1
  LATERAL VIEW
  EXPLODE(ARRAY(0, 1)) expanded AS `number`
  GROUP BY
    expanded.`number`,
    CASE WHEN expanded.`number` IN (0) THEN b1.`n` END
) AS g
