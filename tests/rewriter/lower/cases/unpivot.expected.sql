WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    generated.`n` AS `n_2`,
    generated.`v` AS `v_2`,
    generated_at.`pos` AS `pos`
  FROM `cars` AS cars
  LATERAL VIEW
  POSEXPLODE(
    ARRAY(
      NAMED_STRUCT('col0', 'price', 'col1', cars.`price`),
      NAMED_STRUCT('col0', 'd', 'col1', cars.`dealer`)
    )
  ) generated_at AS `pos`, `_element`
  LATERAL VIEW
  INLINE(ARRAY(generated_at.`_element`)) generated AS `n`, `v`
  WHERE
    NOT generated.`v` IS NULL
)
SELECT
  m.`car_id` AS `car_id_3`,
  m.`n_2` AS `n_2`,
  m.`v_2` AS `v_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
