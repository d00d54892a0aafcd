-- create: totals
CREATE TABLE totals STORED AS parquet AS 
SELECT * FROM `answer`;
                                         (SELECT 1 AS a)
