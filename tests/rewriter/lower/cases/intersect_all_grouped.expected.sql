WITH `b1_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`m_2__5` AS `m_2`,
    union_.`side__6` AS `side__6`
  FROM (
    SELECT
      cars.`model` AS `m_2__5`,
      0 AS `side__6`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `m_2__5`,
      1 AS `side__6`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
  ) AS union_
), `b1` AS (
  SELECT
    g.`m_2` AS `m_2`,
    CASE WHEN g.`left__7` < g.`right__8` THEN g.`left__7` ELSE g.`right__8` END AS `copies__9`
  FROM (
    SELECT
      m.`m_2` AS `m_2`,
      SUM(1 - m.`side__6`) AS `left__7`,
      SUM(m.`side__6`) AS `right__8`
    FROM `b1_members` AS m
    GROUP BY
      m.`m_2`
  ) AS g
  WHERE
    CASE WHEN g.`left__7` < g.`right__8` THEN g.`left__7` ELSE g.`right__8` END > 0
), `b0_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1.`m_2` AS `b1_m_2`,
    dealers_2.`city` AS `city_5`
  FROM `b1` AS b1, `dealers` AS dealers_2
  WHERE
    dealers_2.`city` = b1.`m_2`
)
SELECT
  g.`m_4` AS `m_3`,
  g.`count` AS `n`,
  g.`city_5` AS `city_4`,
  g.`_prov`
FROM (
  SELECT
    m.`b1_m_2` AS `m_4`,
    m.`city_5` AS `city_5`,
    COUNT(*) AS `count`,
    ARRAY_DISTINCT(COLLECT_LIST(NAMED_STRUCT('dealers_2', m.`dealer`, 'b1', b1.`m_2`))) AS `_prov`
  FROM `b0_members` AS m, `b1` AS b1
  LATERAL VIEW
  EXPLODE(SEQUENCE(1, b1.`copies__9`)) copies AS `copy`
  WHERE
    m.`b1_m_2` IS NOT DISTINCT FROM b1.`m_2`
  GROUP BY
    m.`b1_m_2`,
    m.`city_5`
) AS g
