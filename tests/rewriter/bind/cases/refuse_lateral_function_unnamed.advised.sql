SELECT car_id, word FROM cars, LATERAL words(model) w(word, size)
