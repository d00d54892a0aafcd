SELECT model, city FROM cars JOIN dealers ON cars.dealer = dealers.dealer AND price > 10
