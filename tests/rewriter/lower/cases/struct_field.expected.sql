WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    nested.`st`.`a`.`b` AS `b`,
    nested.`arr`[0].c AS `c_2`,
    nested.`st`.`x` + 1 AS `sum_st_x_1_2`
  FROM `nested` AS nested
  WHERE
    nested.`st`.`a`.`b` > 1
)
SELECT
  g.`b` AS `f`,
  g.`c_2` AS `c`,
  g.`sum_st_x_1_2` AS `sum_st_x_1`,
  g.`_prov`
FROM (
  SELECT
    m.`b` AS `b`,
    m.`c_2` AS `c_2`,
    SUM(m.`sum_st_x_1_2`) AS `sum_st_x_1_2`,
    COLLECT_LIST(NAMED_STRUCT('nested', m.`id`, 'sum_st_x_1_2_value', m.`sum_st_x_1_2`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`b`,
    m.`c_2`
) AS g
