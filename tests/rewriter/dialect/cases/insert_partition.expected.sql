-- append: totals
-- Into(columns=None, by_name=False, partition=(('day', "'x'"),))
INSERT INTO totals
SELECT * FROM `answer`;
                                         SELECT model FROM cars
