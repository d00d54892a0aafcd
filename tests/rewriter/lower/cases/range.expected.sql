WITH `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    range_.`id` AS `id_3`,
    dealers.`city` AS `city`
  FROM RANGE(1, 9, 2) AS range_(`id`), `dealers` AS dealers
  WHERE
    dealers.`dealer` = range_.`id`
)
SELECT
  g.`id_3` AS `id_2`,
  g.`count_city` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`id_3` AS `id_3`,
    COUNT(m.`city`) AS `count_city`,
    COLLECT_LIST(NAMED_STRUCT('dealers', m.`dealer`, 'count_city_value', m.`city`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`id_3`
) AS g
