INSERT INTO totals PARTITION (day = 'x') SELECT model FROM cars
