SELECT approx_percentile(price, 0.5) FILTER (WHERE price > 1) AS s FROM cars
