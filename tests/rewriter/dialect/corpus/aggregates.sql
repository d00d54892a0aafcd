select count(*), count(a), count(1), count(distinct a), count(distinct a, b), count(a, b), count(distinct *), COUNT(ALL a) from t
---
select sum(a), avg(a), mean(a), min(a), max(a), sum(distinct a), avg(distinct a), min(distinct a), max(distinct s), sum(all a) from t
---
select sum(a) filter (where b > 1), count(*) filter (where flag), avg(a) filter (where s like 'a%'), count(distinct a) filter (where b = 1), max(a) filter (where a in (1, 2)) as m from t
---
select first(a), first(a, true), first(a) ignore nulls, first_value(a), first_value(a, true), first_value(a) ignore nulls, last(a), last(a, true), last(a) ignore nulls, last_value(a) respect nulls from t
---
select any_value(a), any_value(a, true), any_value(a) ignore nulls, mode(a), mode(a, true), mode() within group (order by a), mode() within group (order by a desc) from t
---
select collect_list(a), collect_set(a), array_agg(a), collect_list(distinct a), collect_list(a) filter (where a > 1), array_agg(distinct s) from t
---
select listagg(s), listagg(s, ','), listagg(distinct s, ','), listagg(s, ',') within group (order by s), listagg(s) within group (order by s desc nulls last), string_agg(s, ','), string_agg(s, ',') within group (order by s) from t
---
select percentile(a, 0.5), percentile(a, array(0.25, 0.75)), percentile(a, 0.5, b), percentile_approx(a, 0.5), percentile_approx(a, 0.5, 100), approx_percentile(a, array(0.5, 0.9)), median(a) from t
---
select percentile_cont(0.5) within group (order by a), percentile_cont(0.5) within group (order by a desc), percentile_disc(0.5) within group (order by x), percentile_cont(0.25) within group (order by a) filter (where b > 1) from t
---
select approx_count_distinct(a), approx_count_distinct(a, 0.1), count_if(a > 1), bit_and(a), bit_or(a), bit_xor(a), max_by(a, b), min_by(a, b), product_me from (select a, b, 1 as product_me from t) group by product_me
---
select max_by(s, a), min_by(s, a), max_by(s, a) filter (where flag), count_if(flag), grouping(a) from t group by cube(a)
---
select stddev(x), stddev_samp(x), stddev_pop(x), std(x), variance(x), var_samp(x), var_pop(x), skewness(x), kurtosis(x), corr(x, a), covar_pop(x, a), covar_samp(x, a) from t
---
select regr_count(x, a), regr_slope(x, a), regr_intercept(x, a), regr_r2(x, a), regr_avgx(x, a), regr_avgy(x, a), regr_sxx(x, a), regr_sxy(x, a), regr_syy(x, a) from t
---
select try_sum(a), try_avg(a), histogram_numeric(a, 3), count_min_sketch(a, 0.5D, 0.5D, 1), hll_sketch_estimate(hll_sketch_agg(a)), bitmap_count(bitmap_construct_agg(bitmap_bit_position(a))) from t
---
select bool_and(flag), bool_or(flag), every(flag), some(flag), any(flag) from t
---
select a, count(*) from t group by a
---
select a, sum(b) from t group by 1 having sum(b) > 1 order by 2 desc
---
select a, b, count(*) from t group by all
---
select a as k, count(*) as n from t group by k having n > 1 order by k
---
select a, b, sum(c0) from t group by a, b with rollup
---
select a, b, sum(c0) from t group by a, b with cube
---
select a, b, sum(c0), grouping(a), grouping_id(), grouping_id(a, b), grouping__id from t group by rollup(a, b)
---
select a, b, sum(c0) from t group by cube (a, b)
---
select a, b, sum(c0) from t group by grouping sets ((a, b), (a), ())
---
select a, b, sum(c0) from t group by a, b grouping sets ((a, b), a, ())
---
select a, b, s, sum(c0) from t group by a, rollup(b), cube(s)
---
select a, b, s, sum(c0) from t group by a, grouping sets (rollup(b, s), (a))
---
select sum(a + b) / count(*), sum(a) + sum(b) * 2, -sum(a), max(a) - min(a), round(avg(a), 2), sum(case when flag then 1 else 0 end) from t
---
select count(distinct case when a > 1 then b end), count(distinct a + b), sum(distinct a * 2), count(if(flag, 1, null)) from t
---
select a from t group by a having count(distinct b) > 1 and max(b) < 10 or min(s) is null
---
select distinct a, b from t
---
select all a from t
---
select count(*) as `count`, sum(a) as `sum`, min(a) min, max(a) max from t
---
select aggregate(collect_list(a), 0, (p, q) -> p + q), size(collect_set(a)), sort_array(collect_list(struct(a, s)))[0].s from t
