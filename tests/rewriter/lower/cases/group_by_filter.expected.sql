WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    CASE WHEN cars.`price` > 10 THEN 1 END AS `count_filter_where_price_10_2`,
    CASE WHEN cars.`price` > 10 THEN cars.`model` END AS `count_distinct_model_price_filter_where_2`,
    cars.`price` AS `price`,
    CASE WHEN cars.`model` IS NULL THEN cars.`price` + 1 END AS `max_price_1_filter_where_model_is_null_2`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`count_filter_where_price_10_2` AS `count_filter_where_price_10`,
  g.`count_distinct_model_price_filter_where_2` AS `count_distinct_model_price_filter_where`,
  g.`max_price_1_filter_where_model_is_null_2` AS `max_price_1_filter_where_model_is_null`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(m.`count_filter_where_price_10_2`) AS `count_filter_where_price_10_2`,
    COUNT(DISTINCT m.`count_distinct_model_price_filter_where_2`, m.`price`) AS `count_distinct_model_price_filter_where_2`,
    MAX(m.`max_price_1_filter_where_model_is_null_2`) AS `max_price_1_filter_where_model_is_null_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'count_filter_where_price_10_2_value',
        m.`count_filter_where_price_10_2`,
        'count_distinct_model_price_filter_where_2_value',
        NAMED_STRUCT('_1', m.`count_distinct_model_price_filter_where_2`, '_2', m.`price`),
        'max_price_1_filter_where_model_is_null_2_value',
        m.`max_price_1_filter_where_model_is_null_2`
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
