SELECT dealer, model, max(price) - min(price) AS spread FROM cars GROUP BY ALL
