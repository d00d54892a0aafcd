WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`a` AS `a_2`,
    generated.`b` AS `b_2`,
    generated_at.`pos` AS `pos`
  FROM `nested` AS nested
  LATERAL VIEW OUTER
  POSEXPLODE(nested.`arr`) generated_at AS `pos`, `_element`
  LATERAL VIEW OUTER
  INLINE(ARRAY(generated_at.`_element`)) generated AS `a`, `b`
)
SELECT
  m.`id` AS `id_2`,
  m.`a_2` AS `a_2`,
  m.`b_2` AS `b_2`,
  NAMED_STRUCT('nested', m.`id`) AS `_prov`
FROM `b0_members` AS m
