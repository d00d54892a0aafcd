WITH `b_1_members` AS (
  SELECT
    b1_2.`k` AS `k`
  FROM `b1` AS b1_2
), `b_1` AS (
  SELECT
    g.`k_4` AS `k_4`,
    g.`k_4` AS `k_3`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`k` AS `k_4`,
      COUNT(*) AS `count`
    FROM `b_1_members` AS m
    GROUP BY
      m.`k`
  ) AS g
), `b_0_members` AS (
  SELECT
    b1.`k` AS `k`,
    b_1.`k_4` AS `b_1_k_4`,
    b1.`v` AS `v_3`
  FROM `b1` AS b1, `b_1` AS b_1
  WHERE
    b1.`k` = b_1.`k_3`
)
SELECT
  m.`v_3` AS `v_3`,
  b_1.`n` AS `n_2`,
  NAMED_STRUCT('b1', m.`k`, 'b_1', b_1.`k_4`) AS `_prov`
FROM `b_0_members` AS m, `b_1` AS b_1
WHERE
  m.`b_1_k_4` IS NOT DISTINCT FROM b_1.`k_4`
