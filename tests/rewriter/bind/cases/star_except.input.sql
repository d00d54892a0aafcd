SELECT * EXCEPT (price, sold), cars.* EXCEPT (model) FROM cars
