SELECT count(*) FROM cars a, cars b, cars_2 c WHERE a.car_id = b.car_id AND b.car_id = c.car_id
