SELECT car_id, w FROM (SELECT car_id, window(sold, '1 day') AS w FROM cars) ORDER BY w
