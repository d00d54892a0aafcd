-- overwrite: totals
-- Into(columns=None, by_name=False, partition=(('day', '"x"'), ('hour', None)))
INSERT OVERWRITE totals PARTITION (day = "x", hour)
SELECT * FROM `answer`;
                                                    SELECT model, 1, 2 FROM cars
