FROM cars |> WHERE price > 1 |> AS c |> LEFT JOIN dealers AS d ON c.dealer = d.dealer |> SELECT c.model, city
