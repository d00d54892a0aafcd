WITH `b0_members` AS (
  SELECT
    order_.`_prov` AS `prov`,
    order_.`select` AS `select_2`,
    order_.`Case` AS `prov_2`
  FROM `order` AS order_
  WHERE
    order_.`select` > 1
)
SELECT
  m.`select_2` AS `select_2`,
  m.`prov_2` AS `prov_2`,
  m.`prov` AS `present`,
  NAMED_STRUCT('order_', m.`prov`) AS `_prov`
FROM `b0_members` AS m
