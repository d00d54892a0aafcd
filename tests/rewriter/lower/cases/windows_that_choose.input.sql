SELECT
  car_id,
  max_by(model, price) OVER (PARTITION BY dealer ORDER BY price) AS m,
  mode(model) OVER (PARTITION BY dealer) AS most,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY price) OVER (PARTITION BY dealer) AS p,
  listagg(model, ',') OVER (PARTITION BY dealer) AS models,
  listagg(model, ',') WITHIN GROUP (ORDER BY price) OVER (PARTITION BY dealer) AS by_price,
  string_agg(model) OVER (
    PARTITION BY dealer ORDER BY price ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
  ) AS two
FROM cars
