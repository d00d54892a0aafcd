-- create: totals
CREATE TABLE totals USING parquet 
SELECT * FROM `answer`;
                                  SELECT 1 AS a
