SELECT car_id FROM (SELECT car_id, window(sold, '1 day') AS w FROM cars) WHERE w.start > now()
