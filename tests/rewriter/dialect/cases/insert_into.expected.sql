-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
                   SELECT model, count(*) FROM cars GROUP BY model
