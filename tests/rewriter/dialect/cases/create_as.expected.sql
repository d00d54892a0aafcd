-- create: totals
CREATE TABLE totals USING parquet PARTITIONED BY (model)
COMMENT 'counts as select' TBLPROPERTIES ('as' = 'x') AS -- the query

SELECT * FROM `answer`;
                                                        
                                                                     
SELECT model, count(*) AS n FROM cars GROUP BY model
