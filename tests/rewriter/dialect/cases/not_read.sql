-- title: delete
DELETE FROM totals WHERE n = 1
-- error
UnsupportedError: DELETE is not annotated at 1:1
  DELETE FROM totals WHERE n = 1
  ^^^^^^
what_if(delete=...) asks what would be without rows; to be rid of them, write those that stay into another table.

-- title: merge
MERGE INTO totals USING cars ON totals.model = cars.model WHEN MATCHED THEN DELETE
-- error
UnsupportedError: MERGE is not annotated at 1:1
  MERGE INTO totals USING cars ON totals.model = cars.model WH
  ^^^^^
Write the merged rows into another table: CREATE TABLE ... AS SELECT ... FULL JOIN.

-- title: query
WITH c AS (SELECT model FROM cars) SELECT * FROM c

-- title: query with
WITH insert AS (SELECT model FROM cars) SELECT * FROM insert

-- title: update
UPDATE totals SET n = 1
-- error
UnsupportedError: UPDATE is not annotated at 1:1
  UPDATE totals SET n = 1
  ^^^^^^
Write the rows with their new values into another table: CREATE TABLE ... AS SELECT.
