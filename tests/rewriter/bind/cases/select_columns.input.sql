SELECT model, price AS p, cars.dealer FROM cars
