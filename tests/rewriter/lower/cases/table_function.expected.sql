WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    dealers.`dealer` AS `dealer`,
    generated.`word` AS `word_3`
  FROM `cars` AS cars, `dealers` AS dealers, LATERAL WORDS(cars.`model`, dealers.`city`) AS generated(`word`, `size`)
  WHERE
    cars.`dealer` = dealers.`dealer` AND generated.`size` > 3
)
SELECT
  g.`word_3` AS `word_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`word_3` AS `word_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'dealers', m.`dealer`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`word_3`
) AS g
