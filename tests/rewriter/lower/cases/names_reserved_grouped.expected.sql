WITH `b0_members` AS (
  SELECT
    order_.`_prov` AS `prov`,
    order_.`Case` AS `case_2`
  FROM `order` AS order_
)
SELECT
  g.`case_2` AS `n`,
  g.`count` AS `members`,
  g.`_prov`
FROM (
  SELECT
    m.`case_2` AS `case_2`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('order_', m.`prov`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`case_2`
) AS g
