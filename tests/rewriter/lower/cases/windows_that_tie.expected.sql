WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    ROW_NUMBER() OVER (PARTITION BY m.`dealer` ORDER BY m.`model`, m.`car_id` ASC) AS `position__1`
  FROM `b1_members` AS m
)
SELECT
  MAX_BY(b1.`price`, b1.`position__1`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `last_value_price_over_partition_by_deale`,
  FIRST_VALUE(b1.`price`) OVER (
    PARTITION BY b1.`dealer`
    ORDER BY b1.`model`, b1.`car_id__id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS `first_value_price_over_partition_by_deal`,
  LAG(b1.`price`, 2) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`, b1.`car_id__id` ASC) AS `lag_price_2_over_partition_by_dealer_ord`,
  MIN_BY(b1.`price`, CASE WHEN b1.`price` > 1 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `first_price_filter_where_price_1_over_pa`,
  MIN_BY(b1.`price`, CASE WHEN b1.`position__1` = 2 THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `nth_value_price_2_over_partition_by_deal`,
  MAX_BY(b1.`price`, CASE WHEN NOT b1.`price` IS NULL THEN b1.`position__1` END) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `last_price_true_over_partition_by_dealer`,
  SUM(b1.`price`) OVER (ORDER BY b1.`model`, b1.`car_id__id` ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS `sum_price_over_order_by_model_rows_betwe`,
  ANY_VALUE(b1.`model`) OVER (
    PARTITION BY b1.`dealer`
    ORDER BY b1.`car_id__id` ASC
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS `any_value_model_over_partition_by_dealer`,
  SUM(b1.`price`) OVER (PARTITION BY b1.`dealer` ORDER BY b1.`model`) AS `sum_price_over_partition_by_dealer_order`,
  NAMED_STRUCT('b1', b1.`car_id__id`) AS `_prov`
FROM `b1` AS b1
