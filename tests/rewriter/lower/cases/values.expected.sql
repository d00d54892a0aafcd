WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`
  FROM `dealers` AS dealers_2
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`col1_2` AS `col1_2`,
    outer_join.`asked` AS `asked`,
    outer_join.`city` AS `city_2`,
    outer_join.`col2_2` AS `q`,
    outer_join.`position` AS `position`
  FROM (
    SELECT
      values_.`col1` AS `col1_2`,
      values_.`col2` AS `col2_2`,
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      dealers.`dealer` AS `dealers_dealer`,
      values_.`position` AS `position`,
      FALSE AS `asked`
    FROM (
      VALUES
        (1, 'x', 0),
        (2, NULL, 1)
    ) AS values_(`col1`, `col2`, `position`), `dealers` AS dealers
    WHERE
      dealers.`dealer` = values_.`col1`
    UNION ALL
    SELECT
      values__2.`col1` AS `col1_2`,
      values__2.`col2` AS `col2_2`,
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      NULL AS `dealers_dealer`,
      values__2.`position` AS `position`,
      TRUE AS `asked`
    FROM (
      VALUES
        (1, 'x', 0),
        (2, NULL, 1)
    ) AS values__2(`col1`, `col2`, `position`)
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  m.`q` AS `q`,
  NAMED_STRUCT('dealers', m.`dealers_dealer`, 'b1_absent', CASE WHEN m.`asked` THEN m.`col1_2` END) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`col1_2`
    )
  )
