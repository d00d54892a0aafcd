SELECT city, (SELECT collect_list(model) FROM cars c WHERE c.dealer = d.dealer) AS models FROM dealers d
