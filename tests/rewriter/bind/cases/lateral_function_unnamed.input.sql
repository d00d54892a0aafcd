SELECT car_id, part, p.place
FROM cars, LATERAL parts(model) p
