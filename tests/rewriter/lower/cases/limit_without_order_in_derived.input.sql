SELECT t.model, d.city FROM (SELECT model, dealer FROM cars LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
