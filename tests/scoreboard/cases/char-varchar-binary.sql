-- CHAR, VARCHAR and BINARY.
CREATE TABLE codes(id INT, c CHAR(5), v VARCHAR(5), b BINARY) USING parquet;
INSERT INTO codes VALUES (1, 'ab', 'ab', X'00FF'), (2, 'abc  ', 'abc', X'41'), (3, NULL, NULL, NULL), (4, 'zz', 'ab ', X'4142');
CREATE TABLE keys(c CHAR(3), n INT) USING parquet;
INSERT INTO keys VALUES ('ab', 1), ('zz', 2), ('q', 3);

SELECT * FROM codes;
SELECT id, length(c), length(v), octet_length(b), length(b) FROM codes;
SELECT id FROM codes WHERE c = 'ab';
SELECT id FROM codes WHERE c = v;
SELECT id FROM codes WHERE c IN ('ab', 'zz') OR v = 'abc';
SELECT id FROM codes WHERE c < 'b' AND v > 'a';
SELECT codes.id, keys.n FROM codes JOIN keys ON codes.c = keys.c;
SELECT id FROM codes WHERE c IN (SELECT c FROM keys);
SELECT c, count(*) FROM codes GROUP BY c;
SELECT id, c || '|', concat(v, '|'), trim(c) || '|', upper(c) FROM codes;
SELECT id, CAST(c AS STRING), CAST(id AS CHAR(3)), CAST(v AS VARCHAR(2)) FROM codes;
SELECT max(c), min(v), count(DISTINCT c) FROM codes;
SELECT id FROM codes WHERE c LIKE 'ab%';
SELECT id, CASE WHEN c = 'ab' THEN c ELSE v END AS x FROM codes;
SELECT c FROM codes UNION SELECT c FROM keys;
SELECT id FROM codes ORDER BY c DESC NULLS LAST, id;
SELECT id, hex(b), CAST(b AS STRING), b = X'41' AS a FROM codes;
SELECT b, count(*) FROM codes GROUP BY b;
SELECT id FROM codes WHERE b > X'01' ORDER BY b;
SELECT max(b), min(b) FROM codes;
SELECT id, b || X'01' AS bb, substring(b, 1, 1) AS f, base64(b) FROM codes;
SELECT a.id FROM codes a JOIN codes z ON a.b = z.b;
SELECT id, encode(v, 'UTF-16BE') AS u, bit_length(b), reverse(v) FROM codes;
