SELECT last_value(price) OVER w, first_value(price) OVER w, lag(price, 2) OVER w,
  first(price) FILTER (WHERE price > 1) OVER w, nth_value(price, 2) OVER w,
  last(price, true) OVER w, sum(price) OVER (ORDER BY model ROWS 1 PRECEDING),
  any_value(model) OVER (PARTITION BY dealer), sum(price) OVER w
FROM cars
WINDOW w AS (PARTITION BY dealer ORDER BY model)
