SELECT car_id, middle(price) OVER (PARTITION BY dealer) AS m FROM cars
