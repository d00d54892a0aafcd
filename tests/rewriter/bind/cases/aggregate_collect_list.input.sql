SELECT collect_list(price) FROM cars
