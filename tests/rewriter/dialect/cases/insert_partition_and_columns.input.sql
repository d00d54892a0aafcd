INSERT INTO totals PARTITION (day = DATE "2024-01-02", hour) (model, n, hour) SELECT model, 1, 2 FROM cars
