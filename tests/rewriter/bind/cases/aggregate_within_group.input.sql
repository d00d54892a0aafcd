SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS p, listagg(model, ',') WITHIN GROUP (ORDER BY price DESC, model) FILTER (WHERE price > 1) AS l FROM cars
