-- title: delete
DELETE FROM totals WHERE n = 1
-- error
UnsupportedError: DELETE is not annotated at 1:1
  DELETE FROM totals WHERE n = 1
  ^^^^^^
Run it with spark.sql; ls.reenact({table: versions}, statements, key) then follows the table through it, to what is made of it and what would be without it.

-- title: merge
MERGE INTO totals USING cars ON totals.model = cars.model WHEN MATCHED THEN DELETE
-- error
UnsupportedError: MERGE is not annotated at 1:1
  MERGE INTO totals USING cars ON totals.model = cars.model WH
  ^^^^^
Run it with spark.sql; ls.reenact({table: versions}, statements, key) then follows the table through it, to what is made of it and what would be without it.

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
Run it with spark.sql; ls.reenact({table: versions}, statements, key) then follows the table through it, to what is made of it and what would be without it.
