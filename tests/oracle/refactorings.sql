-- wrong: NOT EXISTS as NOT IN, with NULL in the list
SELECT c.id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
SELECT c.id FROM customers c WHERE c.id NOT IN (SELECT o.customer FROM orders o);

-- equal: EXISTS as IN
SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
SELECT c.id FROM customers c WHERE c.id IN (SELECT o.customer FROM orders o);

-- wrong: EXISTS as a join that repeats rows
SELECT c.id, c.country FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
SELECT c.id, c.country FROM customers c JOIN orders o ON o.customer = c.id;

-- equal: EXISTS as a join with DISTINCT
SELECT c.id, c.country FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
SELECT DISTINCT c.id, c.country FROM customers c JOIN orders o ON o.customer = c.id;

-- wrong: a total multiplied by a further join
SELECT o.status, sum(o.total) AS total FROM orders o GROUP BY o.status;
SELECT o.status, sum(o.total) AS total FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.status;

-- wrong: DISTINCT lost
SELECT DISTINCT o.customer, o.status FROM orders o WHERE o.total > 300;
SELECT o.customer, o.status FROM orders o WHERE o.total > 300;

-- equal: DISTINCT as GROUP BY
SELECT DISTINCT o.customer, o.status FROM orders o WHERE o.total > 300;
SELECT o.customer, o.status FROM orders o WHERE o.total > 300 GROUP BY o.customer, o.status;

-- wrong: a condition of ON moved to WHERE under an outer join
SELECT c.id, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.status = 'done';
SELECT c.id, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.status = 'done';

-- wrong: a condition of WHERE moved to ON under an outer join
SELECT c.id, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE c.segment = 'toys';
SELECT c.id, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id AND c.segment = 'toys';

-- equal: a condition of an inner join moved to WHERE
SELECT c.id, o.id AS o FROM customers c JOIN orders o ON o.customer = c.id AND o.status = 'done';
SELECT c.id, o.id AS o FROM customers c JOIN orders o ON o.customer = c.id WHERE o.status = 'done';

-- wrong: BETWEEN with an open end
SELECT count(*) AS n FROM orders WHERE day >= DATE '2024-03-01' AND day < DATE '2024-04-01';
SELECT count(*) AS n FROM orders WHERE day BETWEEN DATE '2024-03-01' AND DATE '2024-04-01';

-- equal: BETWEEN with both ends
SELECT count(*) AS n FROM orders WHERE day >= DATE '2024-03-01' AND day <= DATE '2024-03-31';
SELECT count(*) AS n FROM orders WHERE day BETWEEN DATE '2024-03-01' AND DATE '2024-03-31';

-- wrong: COUNT(*) as COUNT of a column with NULLs
SELECT product, count(*) AS n FROM items GROUP BY product;
SELECT product, count(quantity) AS n FROM items GROUP BY product;

-- equal: COUNT(*) as COUNT of the key
SELECT product, count(*) AS n FROM items GROUP BY product;
SELECT product, count(id) AS n FROM items GROUP BY product;

-- wrong: COUNT(*) over an outer join counts customers without orders
SELECT c.id, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id;
SELECT c.id, count(*) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id;

-- wrong: UNION ALL as UNION
SELECT customer FROM orders WHERE status = 'open' UNION ALL SELECT customer FROM orders WHERE total > 450;
SELECT customer FROM orders WHERE status = 'open' UNION SELECT customer FROM orders WHERE total > 450;

-- wrong: UNION ALL as OR
SELECT id FROM orders WHERE status = 'open' UNION ALL SELECT id FROM orders WHERE total > 450;
SELECT id FROM orders WHERE status = 'open' OR total > 450;

-- equal: UNION as OR, over a key
SELECT id FROM orders WHERE status = 'open' UNION SELECT id FROM orders WHERE total > 450;
SELECT id FROM orders WHERE status = 'open' OR total > 450;

-- wrong: a negated condition loses NULLs
SELECT id FROM orders WHERE NOT coalesce(status = 'done', false);
SELECT id FROM orders WHERE status <> 'done';

-- wrong: NOT (a AND b) with the wrong law
SELECT id FROM items WHERE NOT (product = 'pen' AND quantity = 1);
SELECT id FROM items WHERE product <> 'pen' AND quantity <> 1;

-- equal: NOT (a OR b) with the right law
SELECT id FROM items WHERE NOT (product = 'pen' OR quantity = 1);
SELECT id FROM items WHERE product <> 'pen' AND quantity <> 1;

-- wrong: AVG as SUM over COUNT(*)
SELECT product, sum(quantity) / count(quantity) AS a FROM items GROUP BY product;
SELECT product, sum(quantity) / count(*) AS a FROM items GROUP BY product;

-- wrong: a mean of means
SELECT avg(quantity) AS a FROM items;
SELECT avg(a) AS a FROM (SELECT product, avg(quantity) AS a FROM items GROUP BY product) p;

-- equal: a sum of sums
SELECT sum(quantity) AS s FROM items;
SELECT sum(s) AS s FROM (SELECT product, sum(quantity) AS s FROM items GROUP BY product) p;

-- wrong: HAVING over all rows as WHERE
SELECT customer, sum(total) AS s FROM orders GROUP BY customer HAVING max(total) > 400;
SELECT customer, sum(total) AS s FROM orders WHERE total > 400 GROUP BY customer;

-- equal: HAVING over the key as WHERE
SELECT status, sum(total) AS s FROM orders GROUP BY status HAVING status = 'done';
SELECT status, sum(total) AS s FROM orders WHERE status = 'done' GROUP BY status;

-- wrong: a comparison with the maximum as NOT EXISTS of a greater one, with NULL
SELECT i.id FROM items i WHERE i.quantity = (SELECT max(j.quantity) FROM items j WHERE j.order_id = i.order_id);
SELECT i.id FROM items i WHERE NOT EXISTS (SELECT 1 FROM items j WHERE j.order_id = i.order_id AND j.quantity > i.quantity);

-- wrong: the first order of each customer: ties
SELECT o.id FROM orders o WHERE o.day = (SELECT min(p.day) FROM orders p WHERE p.customer = o.customer);
SELECT min(o.id) AS id FROM orders o WHERE o.customer IS NOT NULL GROUP BY o.customer;

-- wrong: a discount of NULL counted as none
SELECT sum(price * (100 - coalesce(discount, 0))) AS s FROM items;
SELECT sum(price * (100 - discount)) AS s FROM items;

-- wrong: an inner join for an outer one
SELECT c.segment, count(DISTINCT c.id) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.segment;
SELECT c.segment, count(DISTINCT c.id) AS n FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.segment;

-- wrong: the sides of an outer join exchanged
SELECT c.id AS c, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id;
SELECT c.id AS c, o.id AS o FROM orders o LEFT JOIN customers c ON o.customer = c.id;

-- equal: an outer join, the other way round
SELECT c.id AS c, o.id AS o FROM customers c LEFT JOIN orders o ON o.customer = c.id;
SELECT c.id AS c, o.id AS o FROM orders o RIGHT JOIN customers c ON o.customer = c.id;

-- wrong: EXCEPT as NOT IN
SELECT customer FROM orders WHERE status = 'done' EXCEPT SELECT customer FROM orders WHERE status = 'open';
SELECT DISTINCT customer FROM orders WHERE status = 'done' AND customer NOT IN (SELECT customer FROM orders WHERE status = 'open');

-- wrong: INTERSECT as a join, which NULLs do not pass
SELECT customer FROM orders WHERE status = 'done' INTERSECT SELECT customer FROM orders WHERE status = 'open';
SELECT DISTINCT a.customer FROM orders a JOIN orders b ON a.customer = b.customer WHERE a.status = 'done' AND b.status = 'open';

-- wrong: two sums over two joins at once
SELECT o.customer, count(DISTINCT o.id) AS orders, count(i.id) AS items FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.customer;
SELECT o.customer, count(o.id) AS orders, count(i.id) AS items FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.customer;

-- wrong: CASE without ELSE in a count
SELECT product, count(CASE WHEN quantity > 1 THEN 1 END) AS n FROM items GROUP BY product;
SELECT product, count(CASE WHEN quantity > 1 THEN 1 ELSE 0 END) AS n FROM items GROUP BY product;

-- wrong: a quotient rounded before it is summed
SELECT sum(quantity) DIV 2 AS h FROM items;
SELECT sum(quantity DIV 2) AS h FROM items;

-- wrong: a frame of rows instead of values
SELECT id, sum(quantity) OVER (PARTITION BY order_id ORDER BY quantity RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM items WHERE order_id < 60;
SELECT id, sum(quantity) OVER (PARTITION BY order_id ORDER BY quantity, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM items WHERE order_id < 60;

-- wrong: a join on a column with NULLs as a null-safe one
SELECT a.id AS a, b.id AS b FROM returned a JOIN returned b ON a.item = b.item AND a.id < b.id;
SELECT a.id AS a, b.id AS b FROM returned a JOIN returned b ON a.item <=> b.item AND a.id < b.id;

-- wrong: an anti-join by IS NULL of a column that may be NULL
SELECT i.id FROM items i WHERE NOT EXISTS (SELECT 1 FROM returned r WHERE r.item = i.id);
SELECT i.id FROM items i LEFT JOIN returned r ON r.item = i.id WHERE r.reason IS NULL;

-- wrong: a count of distinct values as a count of distinct rows, NULL among them
SELECT count(DISTINCT customer) AS n FROM orders;
SELECT count(*) AS n FROM (SELECT DISTINCT customer FROM orders) o;

-- wrong: OR and AND without parentheses
SELECT id FROM items WHERE (product = 'pen' OR product = 'cup') AND quantity > 2;
SELECT id FROM items WHERE product = 'pen' OR product = 'cup' AND quantity > 2;

-- wrong: a subquery that has lost its correlation
SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.product = 'lamp');
SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.product = 'lamp');

-- wrong: pairs with each row itself
SELECT a.id AS a, b.id AS b FROM returned a JOIN returned b ON a.item = b.item AND a.id < b.id;
SELECT a.id AS a, b.id AS b FROM returned a JOIN returned b ON a.item = b.item AND a.id <= b.id;

-- wrong: orders of less than the mean over all, not of the customer
SELECT o.id FROM orders o WHERE o.total < (SELECT avg(p.total) FROM orders p WHERE p.customer = o.customer);
SELECT o.id FROM orders o WHERE o.total < (SELECT avg(p.total) FROM orders p);

-- equal: NULL counted as 0 before the sum
SELECT product, coalesce(sum(quantity), 0) AS s FROM items GROUP BY product;
SELECT product, sum(coalesce(quantity, 0)) AS s FROM items GROUP BY product;
