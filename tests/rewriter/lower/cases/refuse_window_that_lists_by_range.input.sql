SELECT car_id, listagg(model, ',') OVER (PARTITION BY dealer ORDER BY price) AS m FROM cars
