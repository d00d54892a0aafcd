INSERT OVERWRITE totals PARTITION (day = "x", hour) SELECT model, 1, 2 FROM cars
