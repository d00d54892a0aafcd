-- append: totals
-- Into(columns=('model', 'n', 'hour'), by_name=False, partition=(('day', 'DATE "2024-01-02"'), ('hour', None)))
INSERT INTO totals
SELECT * FROM `answer`;
                                                                              SELECT model, 1, 2 FROM cars
