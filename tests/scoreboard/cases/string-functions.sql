-- Functions of strings.
CREATE TEMPORARY VIEW words AS SELECT * FROM VALUES
  (1, 'Spark SQL', 'a,b,,c', ' pad '), (2, 'naïve', 'x', 'tab\t'), (3, '', ',', NULL), (4, NULL, '1,2', 'xxhixx'), (5, '日本語', 'k=v&q=1', 'ABC')
  AS words(id, w, l, p);

SELECT id, w || '-' || l AS v FROM words;
SELECT id, concat(w, l), concat_ws('/', w, l, p), concat_ws('+', array(w, l)) FROM words;
SELECT id, upper(w), lower(w), ucase(w), lcase(w), initcap(w) FROM words;
SELECT id, length(w), char_length(w), character_length(w), len(w), octet_length(w), bit_length(w) FROM words;
SELECT id, trim(p), ltrim(p), rtrim(p), btrim(p), trim('x' FROM p), trim(LEADING 'x' FROM p), trim(TRAILING 'x' FROM p) FROM words;
SELECT id, lpad(w, 6, '*'), rpad(w, 6), lpad(w, 2, 'q') FROM words;
SELECT id, substring(w, 2, 3), substr(w, -2), substring(w FROM 2 FOR 2), left(w, 2), right(w, 2) FROM words;
SELECT id, instr(l, ','), locate(',', l), locate(',', l, 3), position('b' IN l), position('b', l) FROM words;
SELECT id, replace(l, ',', ';'), replace(l, ','), translate(l, 'abc', 'xyz'), overlay(w PLACING '__' FROM 2 FOR 1) FROM words;
SELECT id, split(l, ','), split(l, ',', 2), split_part(l, ',', 2), substring_index(l, ',', 1), substring_index(l, ',', -1) FROM words;
SELECT id, reverse(w), repeat(w, 2), space(id) || '|' FROM words;
SELECT id, startswith(w, 'Sp'), endswith(w, 'L'), contains(w, 'ar') FROM words;
SELECT id, ascii(w), chr(64 + id), char(id + 96), hex(w), unhex(hex(w)) = CAST(w AS BINARY) AS same FROM words;
SELECT id, base64(CAST(w AS BINARY)), CAST(unbase64(base64(CAST(w AS BINARY))) AS STRING) FROM words;
SELECT id, encode(w, 'UTF-8'), decode(encode(w, 'UTF-8'), 'UTF-8') FROM words;
SELECT id, md5(w), sha1(w), sha2(w, 256), crc32(w) FROM words;
SELECT id, soundex(w), levenshtein(w, l), levenshtein(w, l, 2) FROM words;
SELECT id, format_string('%s has %d', w, id), printf('%05d', id), format_number(id * 1234.567, 2) FROM words;
SELECT id, find_in_set('b', l), elt(2, w, l), field FROM words LATERAL VIEW explode(split(l, ',')) t AS field;
SELECT id, parse_url('http://h.org/p?' || l, 'QUERY') AS q, url_encode(l), url_decode(url_encode(l)) FROM words;
SELECT id, to_number('1' || id, '99'), to_char(id * 1.5, '99.9'), try_to_number(w, '99') FROM words;
SELECT id, regexp_replace(l, '[a-c]', '#'), regexp_extract(l, '([a-z])=([a-z])', 2), regexp_count(l, ','), regexp_instr(l, ',') FROM words;
SELECT id, regexp_extract_all(l, '([a-z0-9])', 1), regexp_substr(l, '[0-9]'), regexp_like(l, '^[a-z]') FROM words;
SELECT id, sentences(w) AS s FROM words;
SELECT id, str_to_map(l, '&', '=') AS m FROM words WHERE id = 5;
SELECT id, mask(w), mask(w, 'Q', 'q', 'd', 'o') FROM words;
SELECT id, luhn_check('79927398713'), is_valid_utf8(w), make_valid_utf8(w) FROM words;
SELECT id, collate(w, 'UTF8_LCASE') = 'spark sql' AS same FROM words;
SELECT length(w) AS n, count(*), max(w) FROM words GROUP BY length(w);
SELECT string_agg(l, ';') WITHIN GROUP (ORDER BY id) FROM words;
SELECT listagg(w, '|') WITHIN GROUP (ORDER BY id DESC), count(DISTINCT lower(w)) FROM words;
SELECT w FROM words WHERE w > 'S' ORDER BY w;
SELECT a.id, b.id AS bid FROM words a JOIN words b ON substr(a.w, 1, 1) = substr(b.p, 1, 1) OR a.l = b.l;
SELECT id, 'it''s' || "double" || r'\raw' AS lit FROM words;
SELECT id, 'a' 'b' AS joined, 'tab\there' AS esc, '\u0041' AS uni FROM words;
SELECT id, nullif(w, ''), coalesce(w, l), nvl(w, 'none'), nvl2(w, 'some', 'none') FROM words;
SELECT id, CAST(w AS BINARY) AS b, CAST(CAST(w AS BINARY) AS STRING) AS s FROM words;
SELECT id, to_binary(hex(w), 'hex') AS b, try_to_binary('zz', 'hex') AS n FROM words;
SELECT min(w), max(l), first(w) FROM (SELECT * FROM words WHERE id = 1);
SELECT id, CASE WHEN w LIKE 'S%' THEN 1 WHEN w RLIKE '^n' THEN 2 ELSE 0 END AS k FROM words;
SELECT id, uuid() IS NOT NULL AS u, randstr(5, 1) IS NOT NULL AS r FROM words;
SELECT id, char_length(quote(w)) AS q FROM words;
