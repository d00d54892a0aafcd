select 'it''s' as v from t
---
select "say ""hi""" as v from t
---
select 'a' 'b' as v from t
---
select 'a'
'b' as v, "c" 'd' as w from t
---
select 'tab\there', 'line\nend', 'back\\slash', 'quote\'s', "dq\"s" from t
---
select 'percent\%', 'under\_', 'nul\0x', 'sub\Zx', 'oct\101', 'unknown\q' from t
---
select 'caf\u00e9', '\U0001F600', 'żółć', '日本' from t
---
select r'raw\n\d+', R"raw\t", r'it is "raw"' from t
---
select s rlike '^a\\d+$', s rlike r'^a\d+$', s regexp 'x', regexp(s, 'y'), rlike(s, 'z'), regexp_like(s, 'w') from t
---
select upper(s), lower(s), ucase(s), lcase(s), initcap(s), length(s), char_length(s), character_length(s), len(s) from t
---
select trim(s), ltrim(s), rtrim(s), btrim(s), btrim(s, 'x'), trim('x' from s), ltrim('x', s), rtrim('x', s) from t
---
select trim(both from s), trim(leading from s), trim(trailing from s) from t
---
select trim(both 'x' from s), trim(leading 'xy' from s), trim(trailing s from 'abc') from t
---
select substring(s, 2), substring(s, 2, 3), substr(s, 2), substr(s, -2, 1) from t
---
select substring(s from 2), substring(s from 2 for 3), substr(s from 2 for 3) from t
---
select position('b', s), position('b' in s), position('b', s, 2), locate('b', s), locate('b', s, 2), instr(s, 'b') from t
---
select overlay(s placing 'zz' from 2), overlay(s placing 'zz' from 2 for 1), overlay(s, 'zz', 2), overlay(s, 'zz', 2, 1) from t
---
select concat(s, 'x', a), concat(s), concat_ws(',', s, 'x', arr_s), concat_ws('-'), s || 'x' || a from t
---
select split(s, ','), split(s, '[.]', 2), split_part(s, ',', 1), substring_index(s, '.', 2) from t
---
select regexp_replace(s, '(\\d+)', 'n'), regexp_replace(s, 'a', 'b', 2), regexp_extract(s, '(a)(b)'), regexp_extract(s, '(a)(b)', 2), regexp_extract_all(s, '(a)', 1), regexp_substr(s, 'a'), regexp_instr(s, 'a'), regexp_count(s, 'a') from t
---
select replace(s, 'a'), replace(s, 'a', 'b'), translate(s, 'ab', 'xy'), reverse(s), repeat(s, 3), space(3) from t
---
select lpad(s, 5), lpad(s, 5, '*'), rpad(s, 5), rpad(s, 5, '*') from t
---
select left(s, 2), right(s, 2), ascii(s), chr(65), char(65), bit_length(s), octet_length(s) from t
---
select format_string('%d %s', a, s), printf('%d', a), format_number(x, 2), format_number(x, '#,###.0') from t
---
select base64(bin), unbase64('YQ=='), hex(a), hex(s), unhex('41'), encode(s, 'utf-8'), decode(bin, 'utf-8') from t
---
select decode(a, 1, 'one', 2, 'two'), decode(a, 1, 'one', 2, 'two', 'other'), decode(a, null, 'none') from t
---
select md5(s), sha(s), sha1(s), sha2(s, 256), crc32(s), xxhash64(s), hash(s, a) from t
---
select startswith(s, 'a'), endswith(s, 'b'), contains(s, 'c'), find_in_set('a', s), levenshtein(s, 'abc'), levenshtein(s, 'abc', 2), soundex(s) from t
---
select sentences(s), sentences(s, 'en', 'US'), elt(1, s, 'b'), to_number('12', '99'), to_char(dec, '99.99'), to_varchar(dec, '99.99'), try_to_number(s, '99') from t
---
select s like 'a%', s like 'a\%b', s like 'a/%' escape '/', s not like 'b_', s ilike 'A%', s not ilike 'B%', like(s, 'a'), ilike(s, 'a') from t
---
select s like any ('a%', 'b%'), s like all ('a%', '%b'), s not like any ('a%', 'b%'), s not like all ('a'), s like some ('a%') from t
---
select s ilike any ('a%', 'b%'), s ilike all ('a%', '%b'), s not ilike any ('x') from t
---
select mask(s), mask(s, 'X'), luhn_check('49'), url_encode(s), url_decode('a'), parse_url('http://x/y?q=1', 'QUERY', 'q'), try_url_decode('%') from t
---
select to_binary('41', 'hex'), try_to_binary('zz', 'hex'), is_valid_utf8(s), make_valid_utf8(s), validate_utf8(s) from t
---
select s collate utf8_lcase = 'A', collation(s), collate(s, 'UTF8_LCASE') from t
---
select X'1F', x'00ff', length(X'1F') from t
---
select quote(s), uniform(1, 10, 0), randstr(5, 0) from t
---
select '' as empty, ' ' as blank, '--not a comment' as c1, '/* nor this */' as c2 from t
---
select 'semi;colon' as v, '`tick`' as w, 'a:b' as z, '?' as q, ':p' as p from t
