SELECT kll_sketch_agg_bigint(price) FILTER (WHERE price > 1) AS s FROM cars
