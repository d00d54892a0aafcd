SELECT model, city
FROM cars
  LEFT JOIN dealers ON cars.dealer = dealers.dealer
