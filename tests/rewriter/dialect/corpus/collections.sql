select arr[0], arr[a], m['k'], m[s], st.f, st.g, t.st.f, st['f'], nested[0].p, nested.p, nested[0]['p'] from t
---
select element_at(arr, 1), element_at(m, 'k'), try_element_at(arr, 9), get(arr, 0), array(1, 2)[0], map('a', 1)['a'], struct(1, 2).col1, named_struct('x', 1).x from t
---
select array(), array(1, 2), array('a', s), array(array(1)), map(), map('a', 1, 'b', 2), map_from_arrays(array('a'), array(1)), map_from_entries(array(struct('a', 1))) from t
---
select struct(a, b), struct(a as x, b as y), struct(a, 1, 'x'), struct(st.f), named_struct('p', a, 'q', b), named_struct('P Q', 1, 'r', struct(a)), (a, b), (a as p, b as q) from t
---
select struct(*) from t
---
select struct(t.*), array(t.a, t.b), struct(u.*) from t join u on t.a = u.a
---
select size(arr), cardinality(arr), array_size(arr), array_contains(arr, 1), array_position(arr, 1), array_distinct(arr), array_remove(arr, 1), array_compact(arr), array_repeat(1, 3) from t
---
select array_union(arr, arr), array_intersect(arr, arr), array_except(arr, arr), arrays_overlap(arr, arr), arrays_zip(arr, arr), concat(arr, arr), flatten(array(arr)), shuffle(arr) as sh from t
---
select array_sort(arr), array_sort(arr, (p, q) -> case when p < q then 1 when p > q then -1 else 0 end), sort_array(arr), sort_array(arr, false), array_min(arr), array_max(arr), array_join(arr_s, ','), array_join(arr_s, ',', 'null') from t
---
select array_append(arr, 1), array_prepend(arr, 1), array_insert(arr, 1, 5), array_insert(arr, -1, 5), slice(arr, 1, 2), reverse(arr), array_agg(a) from t group by arr
---
select transform(arr, x -> x + 1), transform(arr, (x, i) -> x + i), filter(arr, x -> x > a), exists(arr, x -> x > 1), forall(arr, x -> x > 1), aggregate(arr, 0, (acc, x) -> acc + x), aggregate(arr, 0, (acc, x) -> acc + x, acc -> acc * 2), reduce(arr, 0, (acc, x) -> acc + x) from t
---
select zip_with(arr, arr, (x, y) -> x * y), transform_keys(m, (k, v) -> concat(k, '!')), transform_values(m, (k, v) -> v + 1), map_filter(m, (k, v) -> v > 1), map_zip_with(m, m, (k, v1, v2) -> v1 + v2) from t
---
select transform(nested, z -> z.p + 1), transform(nested, z -> struct(z.p as p, z.q as q)), filter(nested, z -> z.q = 'x'), transform(arr, v -> transform(arr, w -> v + w)) from t
---
select transform(arr, a -> a + 1), transform(arr, A -> a + b), filter(arr, `odd name` -> `odd name` > 1), transform(nested, x -> named_struct('k', x.p)) from t
---
select map_keys(m), map_values(m), map_entries(m), map_concat(m, m), map_contains_key(m, 'k'), str_to_map(s), str_to_map(s, ';'), str_to_map(s, ';', '=') from t
---
select explode(arr) from t
---
select explode(arr) as v, a from t
---
select posexplode(arr) as (p, v), a from t
---
select explode_outer(m) as (k, v) from t
---
select inline(nested) from t
---
select stack(2, a, b, c0, 4) as (p, q) from t
---
select json_tuple(js, 'a', 'b') as (p, q) from t
---
select a, b, v from t lateral view explode(arr) e as v
---
select * from t lateral view outer posexplode(arr) e as p, v lateral view explode(map('a', 1)) f as k, w where v > 1
---
select e.*, t.a from t lateral view explode(m) e
---
select * from t, lateral explode(arr) as e(v)
---
select * from t left join lateral explode(arr) as e(v) on e.v = t.a
---
select * from explode(array(1, 2)) as e(v)
---
select * from range(10)
---
select id from range(1, 10, 2) as r(id) where id > 3
---
select * from range(5) r join t on r.id = t.a
---
select nested.p[0], nested[0].q || 'x', m['a'] + 1, -arr[0], arr[0] + arr[1] * 2, (arr)[0], transform(arr, x -> x)[0] from t
---
select st.*, a from t
---
select t.st.*, `st`.`f`, `t`.`st`.`g` from t
---
select array_size(split(s, ',')), split(s, ',')[0], split(s, ',')[0]::int, st.f + 1 as st_f, (struct(a as z)).z from t
