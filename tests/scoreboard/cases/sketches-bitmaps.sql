-- Sketches, bitmaps, hashes.
CREATE TEMPORARY VIEW hits AS SELECT * FROM VALUES (1, 'x', 5), (2, 'x', 9), (3, 'y', 5), (4, NULL, 7), (5, 'y', NULL) AS hits(id, page, usr);

SELECT hll_sketch_estimate(hll_sketch_agg(usr)) FROM hits;
SELECT page, hll_sketch_estimate(hll_sketch_agg(usr)) AS n FROM hits GROUP BY page;
SELECT hll_sketch_estimate(hll_union_agg(s)) FROM (SELECT page, hll_sketch_agg(usr) AS s FROM hits GROUP BY page);
SELECT hll_sketch_estimate(hll_union(a.s, b.s)) FROM (SELECT hll_sketch_agg(usr) AS s FROM hits WHERE page = 'x') a, (SELECT hll_sketch_agg(usr) AS s FROM hits WHERE page = 'y') b;
SELECT theta_sketch_estimate(theta_sketch_agg(usr)) FROM hits;
SELECT page, theta_sketch_estimate(theta_sketch_agg(usr)) FROM hits GROUP BY page;
SELECT theta_sketch_estimate(theta_union_agg(s)) FROM (SELECT page, theta_sketch_agg(usr) AS s FROM hits GROUP BY page);
SELECT approx_count_distinct(usr), approx_count_distinct(page, 0.05) FROM hits;
SELECT hex(count_min_sketch(usr, 0.5D, 0.5D, 1)) IS NOT NULL FROM hits;
SELECT bitmap_count(bitmap_construct_agg(bitmap_bit_position(id))) FROM hits;
SELECT page, bitmap_count(bitmap_construct_agg(bitmap_bit_position(usr))) AS n FROM hits GROUP BY page;
SELECT bitmap_count(bitmap_or_agg(b)) FROM (SELECT page, bitmap_construct_agg(bitmap_bit_position(usr)) AS b FROM hits GROUP BY page);
SELECT id, bitmap_bucket_number(id), bitmap_bit_position(id) FROM hits;
SELECT approx_top_k(page, 1) FROM hits WHERE page = 'x';
SELECT kll_sketch_get_n_bigint(kll_sketch_agg_bigint(usr)) FROM hits;
SELECT id, hash(page, usr), xxhash64(page), crc32(page), md5(page), sha2(page, 224) FROM hits;
SELECT sum(hash(page)) FROM hits;
SELECT hash(page) % 3 AS bucket, count(*) FROM hits GROUP BY hash(page) % 3;
SELECT h.id FROM hits h WHERE (SELECT hll_sketch_estimate(hll_sketch_agg(usr)) FROM hits g WHERE g.page = h.page) > 1;
SELECT id, mod(xxhash64(id), 2) IN (-1, 0, 1) AS ok FROM hits;
