-- title: insert after from
FROM cars INSERT INTO totals SELECT model
-- error
UnsupportedError: INSERT after FROM is not annotated at 1:11
  FROM cars INSERT INTO totals SELECT model
            ^^^^^^
Write INSERT INTO t, then WITH or SELECT: a statement for each table.

-- title: insert after with
WITH c AS (SELECT model FROM cars)
INSERT INTO totals SELECT * FROM c
-- expected
-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
WITH c AS (SELECT model FROM cars)
                   SELECT * FROM c

-- title: insert by name
INSERT INTO totals BY NAME SELECT model FROM cars
-- expected
-- append: totals
-- Into(columns=None, by_name=True, partition=())
INSERT INTO totals
SELECT * FROM `answer`;
                           SELECT model FROM cars

-- title: insert columns
INSERT INTO totals (model) SELECT model FROM cars
-- expected
-- append: totals
-- Into(columns=('model',), by_name=False, partition=())
INSERT INTO totals
SELECT * FROM `answer`;
                           SELECT model FROM cars

-- title: insert directory
INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet SELECT model FROM cars
-- error
UnsupportedError: INSERT OVERWRITE DIRECTORY is not annotated at 1:18
  INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet SELECT mod
                   ^^^^^^^^^
Write files with q.write.parquet(path).

-- title: insert from
insert into totals from cars select model
-- expected
-- append: totals
insert into totals
SELECT * FROM `answer`;
                   from cars select model

-- title: insert identifier
INSERT INTO IDENTIFIER('totals') SELECT 1
-- error
UnsupportedError: This name of a table is not understood at 1:23
  INSERT INTO IDENTIFIER('totals') SELECT 1
                        ^
Name the table.

-- title: insert into
INSERT INTO totals SELECT model, count(*) FROM cars GROUP BY model
-- expected
-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
                   SELECT model, count(*) FROM cars GROUP BY model

-- title: insert nowhere
INSERT INTO
-- error
UnsupportedError: This name of a table is not understood at 1:8
  INSERT INTO
         ^^^^
Name the table.

-- title: insert overwrite if
INSERT OVERWRITE totals PARTITION (day = "x", hour) IF NOT EXISTS SELECT model FROM cars
-- error
UnsupportedError: INSERT with IF is not annotated at 1:53
  s PARTITION (day = "x", hour) IF NOT EXISTS SELECT model FRO
                                ^^
Write INSERT INTO t SELECT ..., or INSERT OVERWRITE t SELECT ... of the whole table.

-- title: insert overwrite partition
INSERT OVERWRITE totals PARTITION (day = "x", hour) SELECT model, 1, 2 FROM cars
-- expected
-- overwrite: totals
-- Into(columns=None, by_name=False, partition=(('day', '"x"'), ('hour', None)))
INSERT OVERWRITE totals PARTITION (day = "x", hour)
SELECT * FROM `answer`;
                                                    SELECT model, 1, 2 FROM cars

-- title: insert overwrite table
INSERT OVERWRITE TABLE `my db`.`totals`
  (SELECT model FROM cars)
-- expected
-- overwrite: my db / totals
INSERT OVERWRITE TABLE `my db`.`totals`
SELECT * FROM `answer`;
                                       
  (SELECT model FROM cars)

-- title: insert partition
INSERT INTO totals PARTITION (day = 'x') SELECT model FROM cars
-- expected
-- append: totals
-- Into(columns=None, by_name=False, partition=(('day', "'x'"),))
INSERT INTO totals
SELECT * FROM `answer`;
                                         SELECT model FROM cars

-- title: insert partition and columns
INSERT INTO totals PARTITION (day = DATE "2024-01-02", hour) (model, n, hour) SELECT model, 1, 2 FROM cars
-- expected
-- append: totals
-- Into(columns=('model', 'n', 'hour'), by_name=False, partition=(('day', 'DATE "2024-01-02"'), ('hour', None)))
INSERT INTO totals
SELECT * FROM `answer`;
                                                                              SELECT model, 1, 2 FROM cars

-- title: insert replace where
INSERT INTO totals REPLACE WHERE n = 1 SELECT model, 1 FROM cars
-- error
UnsupportedError: INSERT with REPLACE is not annotated at 1:20
  INSERT INTO totals REPLACE WHERE n = 1 SELECT model, 1 FROM 
                     ^^^^^^^
Write INSERT INTO t SELECT ..., or INSERT OVERWRITE t SELECT ... of the whole table.

-- title: insert values
INSERT INTO totals VALUES (1), (2)
-- expected
-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
                   VALUES (1), (2)

-- title: insert with
INSERT INTO totals
WITH c AS (SELECT model FROM cars) SELECT * FROM c
-- expected
-- append: totals
INSERT INTO totals
SELECT * FROM `answer`;
                  
WITH c AS (SELECT model FROM cars) SELECT * FROM c
