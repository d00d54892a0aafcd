SELECT model FROM cars LEFT SEMI JOIN dealers ON cars.dealer = dealers.dealer AND rating > 3
