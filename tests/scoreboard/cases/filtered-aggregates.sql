-- Aggregates with FILTER, DISTINCT and an order of their own; those that choose among rows.
CREATE OR REPLACE TEMPORARY VIEW crews AS SELECT * FROM VALUES
  (1, 'ann', DATE '2005-01-01', 100.0D, 10), (2, 'bob', DATE '2003-01-01', 200.0D, 10), (3, 'cat', DATE '2002-01-01', 300.0D, 20),
  (4, 'dan', DATE '2005-01-01', 400.0D, 30), (5, 'eve', DATE '2001-01-01', 400.0D, NULL), (6, 'ann', DATE '2001-01-01', 150.0D, 70) AS crews(id, nm, hired, pay, d);
CREATE OR REPLACE TEMPORARY VIEW ports AS SELECT * FROM VALUES (10, 'CA'), (20, 'NY'), (70, NULL) AS ports(d, st);

SELECT count(id) FILTER (WHERE hired = DATE '2001-01-01') FROM crews;
SELECT count(DISTINCT id) FILTER (WHERE date_format(hired, 'yyyy') = '2001'), count(DISTINCT nm) FROM crews;
SELECT sum(pay), count(DISTINCT nm), count(DISTINCT nm) FILTER (WHERE id > 1) FROM crews;
SELECT d, sum(pay) FILTER (WHERE hired > DATE '2003-01-01') FROM crews GROUP BY d;
SELECT d, sum(DISTINCT pay) FILTER (WHERE id > 1), sum(DISTINCT pay) FROM crews GROUP BY d;
SELECT 'k', sum(pay) FILTER (WHERE hired >= DATE '2003-01-01') FROM crews GROUP BY 1;
SELECT d, count(DISTINCT nm), count(DISTINCT hired), sum(pay) FILTER (WHERE pay < 400) FROM crews GROUP BY d;
SELECT d, count(DISTINCT nm) FILTER (WHERE id + d > 12), count(DISTINCT hired) FILTER (WHERE pay > 100), sum(pay) FROM crews GROUP BY d;
SELECT max(struct(id)) FILTER (WHERE pay >= 200) FROM crews;
SELECT pay + id AS k, count(d) FILTER (WHERE d IN (10, 20)) FROM crews GROUP BY pay + id;
SELECT d, avg(pay), avg(pay) FILTER (WHERE id > (SELECT 2)) FROM crews GROUP BY d;
SELECT d, avg(pay) FILTER (WHERE d = (SELECT min(d) FROM ports)) FROM crews GROUP BY d;
SELECT d, sum(pay) FILTER (WHERE EXISTS (SELECT 1 FROM ports WHERE ports.d = crews.d)) FROM crews GROUP BY d;
SELECT d, sum(pay) FILTER (WHERE NOT EXISTS (SELECT 1 FROM ports WHERE ports.d = crews.d)) FROM crews GROUP BY d;
SELECT d, avg(pay) FILTER (WHERE d IN (SELECT d FROM ports WHERE st IS NOT NULL)) FROM crews GROUP BY d;
SELECT d, sum(pay) FILTER (WHERE d NOT IN (SELECT d FROM ports)) FROM crews GROUP BY d;
SELECT t.b FROM (SELECT count(d) FILTER (WHERE pay >= 300) AS b FROM crews) t;
SELECT max_by(nm, hired + id), min_by(nm, pay) FROM crews WHERE d = 10;
SELECT max_by(nm, pay) FILTER (WHERE d IS NOT NULL) FROM crews WHERE id <> 3;
SELECT mode(id < 100), mode(hired, true) FROM crews;
SELECT mode() WITHIN GROUP (ORDER BY nm) FROM crews;
SELECT any_value(d) IGNORE NULLS FROM crews WHERE id IN (5, 6);
SELECT first(d, true), last(d) FROM (SELECT * FROM crews WHERE id = 4);
SELECT d, first_value(nm) FROM crews WHERE id > 2 GROUP BY d;
SELECT bool_and(pay > 50) FILTER (WHERE d = 10), every(d > 5) FROM crews;
SELECT sort_array(collect_list(nm) FILTER (WHERE pay > 150)) FROM crews;
SELECT array_sort(collect_set(d)) AS ds FROM crews;
SELECT sum(pay) FILTER (WHERE pay > 1000), count(*) FILTER (WHERE false) FROM crews;
SELECT sum(pay) FILTER (WHERE id > 1) OVER (PARTITION BY nm) AS s, id FROM crews;
SELECT histogram_numeric(id, 2) FROM crews;
SELECT product FROM (SELECT exp(sum(ln(id))) AS product FROM crews);
SELECT d IS NULL AS none, count(*) FILTER (WHERE nm LIKE 'a%') AS a FROM crews GROUP BY ROLLUP(d IS NULL);
