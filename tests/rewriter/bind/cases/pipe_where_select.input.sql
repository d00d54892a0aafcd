FROM cars |> WHERE price > 100 |> SELECT model, cars.price * 2 AS double |> WHERE double < 500
