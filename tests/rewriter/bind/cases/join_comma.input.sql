SELECT model, city FROM cars, dealers AS d WHERE cars.dealer = d.dealer
