-- Functions that give NULL instead of an error.
CREATE TEMPORARY VIEW risky AS SELECT * FROM VALUES
  (1, 10, 0, '12', array(1, 2), map('k', 1)), (2, 2147483647, 1, 'x', array(), map()), (3, NULL, 2, NULL, NULL, NULL), (4, -2147483648, -1, '2024-01-01', array(NULL), map('z', NULL)) AS risky(id, a, b, s, xs, m);

SELECT id, try_add(a, b), try_subtract(a, b), try_multiply(a, b), try_divide(a, b), try_mod(a, b) FROM risky;
SELECT id, try_add(DATE '2024-01-31', id), try_add(DATE '2024-01-31', INTERVAL 1 MONTH), try_divide(INTERVAL 2 DAYS, b) FROM risky;
SELECT id, try_cast(s AS INT), try_cast(s AS DATE), try_cast(a AS TINYINT) FROM risky;
SELECT id, try_element_at(xs, 1), try_element_at(xs, 5), try_element_at(m, 'k') FROM risky;
SELECT id, try_to_number(s, '99'), try_to_timestamp(s), try_to_binary(s, 'hex') FROM risky;
SELECT try_sum(a), try_avg(a), sum(CAST(a AS BIGINT)) FROM risky;
SELECT b > 0 AS pos, try_sum(a), count(*) FROM risky GROUP BY b > 0;
SELECT try_sum(b), try_avg(b) FROM risky WHERE id > 100;
SELECT id, a / nullif(b, 0) AS q FROM risky;
SELECT id FROM risky WHERE try_divide(a, b) > 1;
SELECT id FROM risky WHERE b <> 0 AND a / b > 1;
SELECT id, CASE WHEN b = 0 THEN NULL ELSE a / b END AS q FROM risky;
SELECT id, if(b = 0, -1, a % b) AS r FROM risky;
SELECT try_divide(sum(a), sum(b)) AS q FROM risky WHERE id IN (1, 3);
SELECT id, try_divide(a, b) OVER_, 1 AS one FROM (SELECT *, 1 AS OVER_ FROM risky);
SELECT id, coalesce(try_cast(s AS INT), -1) AS v FROM risky ORDER BY v, id;
SELECT try_cast(s AS INT) AS v, count(*) FROM risky GROUP BY try_cast(s AS INT);
SELECT id, try_url_decode(s) AS u, try_parse_json(s) IS NULL AS j FROM risky;
SELECT id, try_make_timestamp(2024, b, 1, 0, 0, 0) AS t FROM risky WHERE id < 3;
SELECT id, try_reflect('java.lang.Math', 'abs', b) AS r FROM risky WHERE id < 3;
SELECT sum(try_multiply(a, 2)) AS s FROM risky;
SELECT id, raise_error('no') FROM risky WHERE id > 50;
SELECT id, try_validate_utf8(s) AS v FROM risky;
SELECT r.id, q.id AS qid FROM risky r JOIN risky q ON try_divide(r.a, q.b) = 10;
SELECT id, try_to_date(s, 'yyyy-MM-dd') AS d, try_to_time(s) AS t FROM risky;
SELECT max(try_element_at(xs, 2)) AS m FROM risky;
SELECT id, try_aes_decrypt(unhex('00'), 'abcdefghijklmnop') IS NULL AS x FROM risky;
