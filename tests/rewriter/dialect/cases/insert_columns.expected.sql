-- append: totals
-- Into(columns=('model',), by_name=False, partition=())
INSERT INTO totals
SELECT * FROM `answer`;
                           SELECT model FROM cars
