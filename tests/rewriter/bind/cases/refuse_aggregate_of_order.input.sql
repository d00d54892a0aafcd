SELECT approx_top_k(price) FROM cars
