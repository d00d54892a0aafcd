-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
WITH c AS (SELECT model FROM cars)
                   SELECT * FROM c
