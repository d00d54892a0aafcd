SELECT
  model,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY price DESC) FILTER (WHERE price > 1) AS p,
  mode() WITHIN GROUP (ORDER BY price DESC) AS most,
  listagg(dealer, ',') WITHIN GROUP (ORDER BY price DESC) FILTER (WHERE price > 1) AS dealers,
  listagg(DISTINCT dealer, ',') AS different,
  string_agg(DISTINCT dealer) WITHIN GROUP (ORDER BY dealer DESC) FILTER (WHERE price > 1) AS back
FROM cars
GROUP BY model
