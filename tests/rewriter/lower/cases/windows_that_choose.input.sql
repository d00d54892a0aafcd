SELECT
  car_id,
  max_by(model, price) OVER (PARTITION BY dealer ORDER BY price) AS m,
  mode(model) OVER (PARTITION BY dealer) AS most,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY price) OVER (PARTITION BY dealer) AS p
FROM cars
