-- append: totals
-- Into(columns=None, by_name=True, partition=())
INSERT INTO totals
SELECT * FROM `answer`;
                           SELECT model FROM cars
