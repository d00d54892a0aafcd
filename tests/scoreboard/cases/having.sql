-- HAVING, and what ORDER BY of a grouping may name.
CREATE TEMPORARY VIEW parcels AS SELECT * FROM VALUES
  ('red', 1, 2.5), ('red', 4, 1.0), ('blue', 2, 7.25), ('green', 3, NULL), (NULL, 5, 1.5), ('blue', 2, 0.75)
  AS parcels(hue, kilos, fee);
CREATE TEMPORARY VIEW limits AS SELECT * FROM VALUES ('red', 3), ('blue', 9), ('green', NULL) AS limits(hue, top);

SELECT hue, sum(kilos) FROM parcels GROUP BY hue HAVING sum(kilos) > 3;
SELECT count(hue) FROM parcels GROUP BY kilos + 1 HAVING kilos + 1 = 3;
SELECT min(p.kilos) FROM (SELECT * FROM parcels WHERE kilos > 1) p HAVING (count(1) > 2);
SELECT min(kilos) FROM parcels HAVING count(*) > 100;
SELECT kilos + length(hue) AS k FROM parcels GROUP BY kilos + length(hue) HAVING k > 6;
SELECT sum(kilos) AS fee, DATE '2020-02-02' AS d FROM parcels GROUP BY fee HAVING fee > 1;
SELECT sum(kilos) AS s FROM parcels GROUP BY GROUPING SETS ((fee), (hue, fee)) HAVING s > 3;
SELECT sum(kilos) AS kilos FROM parcels GROUP BY CUBE(hue, fee) HAVING fee > 1;
SELECT hue FROM parcels p GROUP BY ROLLUP(p.hue) HAVING p.hue = 'red';
SELECT hue FROM parcels GROUP BY hue HAVING max(fee) > 1 ORDER BY hue;
SELECT length(hue) AS l FROM parcels GROUP BY hue HAVING sum(kilos) > 1 ORDER BY hue;
SELECT hue FROM parcels GROUP BY hue ORDER BY length(hue), hue;
SELECT hue, sum(kilos) FROM parcels GROUP BY hue HAVING sum(kilos) > 3 ORDER BY avg(kilos), hue;
SELECT hue, count(*) AS n FROM parcels GROUP BY hue HAVING n = 2 AND hue IS NOT NULL;
SELECT hue, count(*) FROM parcels GROUP BY hue HAVING NOT (count(fee) > 0);
SELECT hue, avg(fee) FROM parcels GROUP BY hue HAVING avg(fee) IS NULL OR avg(fee) < 2;
SELECT hue, sum(fee) FROM parcels GROUP BY hue HAVING count(DISTINCT kilos) > 1;
SELECT hue, sum(fee) FROM parcels GROUP BY hue HAVING sum(kilos) FILTER (WHERE fee > 1) > 1;
SELECT hue, sum(kilos) FROM parcels GROUP BY hue HAVING sum(kilos) > (SELECT max(top) FROM limits WHERE hue = 'red');
SELECT hue, sum(kilos) AS s FROM parcels GROUP BY hue HAVING EXISTS (SELECT 1 FROM limits l WHERE l.hue = parcels.hue AND l.top < 5);
SELECT hue FROM parcels GROUP BY hue HAVING hue IN (SELECT hue FROM limits WHERE top > 4);
SELECT hue, max(kilos) FROM parcels GROUP BY hue HAVING max(kilos) NOT IN (SELECT top FROM limits WHERE top IS NOT NULL);
SELECT hue, sum(kilos) FROM parcels GROUP BY hue HAVING sum(kilos) > (SELECT avg(s) FROM (SELECT sum(kilos) AS s FROM parcels GROUP BY hue));
SELECT hue, min(kilos) FROM parcels GROUP BY hue HAVING min(kilos) BETWEEN 1 AND 2;
SELECT hue FROM parcels GROUP BY hue HAVING max(kilos) = min(kilos);
SELECT hue FROM parcels GROUP BY hue HAVING max(hue) LIKE 'b%' OR every(fee > 0.9);
SELECT 1 AS one FROM parcels HAVING sum(kilos) > 10;
SELECT 1 AS one FROM parcels HAVING true;
SELECT 'x' FROM parcels WHERE kilos > 100 HAVING count(*) = 0;
SELECT count(*) FROM parcels WHERE kilos > 100 HAVING count(*) > 0;
SELECT p.hue, l.top, sum(p.kilos) FROM parcels p JOIN limits l ON p.hue = l.hue GROUP BY p.hue, l.top HAVING sum(p.kilos) < l.top;
SELECT DISTINCT count(*) AS c FROM parcels GROUP BY hue HAVING c > 0;
SELECT hue, rank() OVER (ORDER BY sum(kilos) DESC, hue) AS r FROM parcels GROUP BY hue HAVING count(*) > 1;
SELECT hue, collect_list(kilos) AS ks FROM parcels WHERE hue = 'red' GROUP BY hue HAVING size(ks) = 2;
SELECT upper(hue) AS u, count(*) FROM parcels GROUP BY upper(hue) HAVING u > 'B';
SELECT hue, count(*) FROM parcels GROUP BY ALL HAVING count(*) >= 2 ORDER BY 2 DESC, 1;
SELECT hue, if(sum(fee) > 3, 'dear', 'cheap') AS kind FROM parcels GROUP BY hue HAVING kind = 'cheap';
SELECT s FROM (SELECT hue, sum(kilos) AS s FROM parcels GROUP BY hue HAVING sum(kilos) > 2) WHERE s < 5;
SELECT hue FROM parcels GROUP BY hue HAVING count(*) > 1 UNION SELECT hue FROM limits GROUP BY hue HAVING max(top) > 5;
SELECT hue, sum(kilos) s FROM parcels GROUP BY hue HAVING s > 1 ORDER BY s DESC, hue LIMIT 2;
