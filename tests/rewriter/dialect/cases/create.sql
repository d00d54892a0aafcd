-- title: create as
CREATE TABLE totals USING parquet PARTITIONED BY (model)
COMMENT 'counts as select' TBLPROPERTIES ('as' = 'x') AS -- the query
SELECT model, count(*) AS n FROM cars GROUP BY model
-- expected
-- create: totals
CREATE TABLE totals USING parquet PARTITIONED BY (model)
COMMENT 'counts as select' TBLPROPERTIES ('as' = 'x') AS -- the query

SELECT * FROM `answer`;
                                                        
                                                                     
SELECT model, count(*) AS n FROM cars GROUP BY model

-- title: create columns
CREATE TABLE totals (a int, b string)

-- title: create if not exists
CREATE TABLE IF NOT EXISTS totals AS SELECT 1 AS a
-- error
UnsupportedError: CREATE TABLE IF NOT EXISTS is not annotated at 1:14
  CREATE TABLE IF NOT EXISTS totals AS SELECT 1 AS a
               ^^
Leave IF NOT EXISTS out: a table that exists would stay as it is.

-- title: create or replace
CREATE OR REPLACE TABLE totals AS SELECT 1 AS a
-- error
UnsupportedError: REPLACE TABLE is not annotated at 1:1
  CREATE OR REPLACE TABLE totals AS SELECT 1 AS a
  ^^^^^^
INSERT OVERWRITE the table, or drop it first.

-- title: create stored as
CREATE TABLE totals STORED AS parquet AS (SELECT 1 AS a)
-- expected
-- create: totals
CREATE TABLE totals STORED AS parquet AS 
SELECT * FROM `answer`;
                                         (SELECT 1 AS a)

-- title: create view
CREATE TEMPORARY VIEW totals AS SELECT 1 AS a
-- error
UnsupportedError: CREATE VIEW is not annotated at 1:18
  CREATE TEMPORARY VIEW totals AS SELECT 1 AS a
                   ^^^^
Make the view with spark.sql: queries read through views over tracked relations.

-- title: create without as
CREATE TABLE totals USING parquet SELECT 1 AS a
-- expected
-- create: totals
CREATE TABLE totals USING parquet 
SELECT * FROM `answer`;
                                  SELECT 1 AS a
