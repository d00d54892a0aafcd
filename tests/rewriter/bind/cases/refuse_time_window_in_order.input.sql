SELECT car_id, window(sold, '1 day') AS w FROM cars ORDER BY window(sold, '1 day')
