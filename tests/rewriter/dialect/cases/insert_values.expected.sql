-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
                   VALUES (1), (2)
