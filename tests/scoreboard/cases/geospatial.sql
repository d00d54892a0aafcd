-- Geospatial values: from bytes, back to bytes, their reference systems, grouped and compared.
SET spark.sql.geospatial.enabled = true;
CREATE TEMPORARY VIEW places AS SELECT * FROM VALUES
  (1, X'0101000000000000000000F03F0000000000000040', 'a'), (2, X'010100000000000000000008400000000000001040', 'a'),
  (3, X'0101000000000000000000F03F0000000000000040', 'b'), (4, NULL, 'b') AS places(id, wkb, zone);

SELECT id, hex(st_asbinary(st_geogfromwkb(wkb))) AS h FROM places;
SELECT id, hex(st_asbinary(st_geomfromwkb(wkb))) AS h FROM places WHERE wkb IS NOT NULL;
SELECT id, st_srid(st_geogfromwkb(wkb)) AS g, st_srid(st_geomfromwkb(wkb)) AS m FROM places;
SELECT id, st_srid(st_setsrid(st_geomfromwkb(wkb), 3857)) AS s FROM places;
SELECT zone, count(st_geomfromwkb(wkb)) AS n FROM places GROUP BY zone;
SELECT zone, max(st_srid(st_geomfromwkb(wkb, 4326))) AS s, count(*) FROM places GROUP BY zone;
SELECT st_asbinary(st_geomfromwkb(wkb)) AS w, count(*) FROM places GROUP BY 1;
SELECT x.id, y.id AS other FROM places x JOIN places y ON st_asbinary(st_geogfromwkb(x.wkb)) = st_asbinary(st_geogfromwkb(y.wkb)) AND x.id < y.id;
SELECT DISTINCT st_asbinary(st_geogfromwkb(wkb)) FROM places;
SELECT id FROM places WHERE st_srid(st_geogfromwkb(wkb)) = 4326;
SELECT id FROM places ORDER BY st_asbinary(st_geogfromwkb(wkb)) DESC NULLS LAST, id LIMIT 2;
SELECT zone, collect_set(st_srid(st_geomfromwkb(wkb))) AS s FROM places GROUP BY zone HAVING count(wkb) > 1;
