WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`grouping_set` AS `grouping_set`,
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`count` AS `n`
  FROM (
    SELECT
      expanded.`number` AS `grouping_set`,
      CASE WHEN expanded.`number` IN (0) THEN m.`dealer_3` END AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    LATERAL VIEW
    EXPLODE(ARRAY(0, 1)) expanded AS `number`
    GROUP BY
      expanded.`number`,
      CASE WHEN expanded.`number` IN (0) THEN m.`dealer_3` END
  ) AS g
  WHERE
    g.`count` > 1
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`grouping_set` AS `b1_grouping_set`,
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_2` AS `dealer_5`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    b1.`dealer_2` IS NOT DISTINCT FROM dealers.`dealer`
)
SELECT
  m.`dealer_5` AS `dealer_5`,
  b1.`n` AS `n_2`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'b1',
    NAMED_STRUCT('_1', b1.`grouping_set`, '_2', b1.`dealer_3`)
  ) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_grouping_set` IS NOT DISTINCT FROM b1.`grouping_set`
  AND m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3`
  AND b1.`n` < 9
