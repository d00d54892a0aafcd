SELECT
  model,
  max_by(car_id, price) AS dearest,
  min_by(car_id, price) FILTER (WHERE price > 1) AS cheapest,
  first(price) AS f,
  last(price) IGNORE NULLS AS l,
  any_value(price) FILTER (WHERE price > 2) AS any,
  mode(price) AS most,
  listagg(dealer, ',') AS dealers
FROM cars
GROUP BY model
HAVING min_by(price, car_id) > 3
