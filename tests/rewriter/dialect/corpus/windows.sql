select row_number() over (order by a), rank() over (partition by s order by a desc), dense_rank() over (partition by s, b order by a, b desc), percent_rank() over (order by a), cume_dist() over (order by a), ntile(4) over (order by a) from t
---
select lag(a) over (order by b), lag(a, 2) over (order by b), lag(a, 2, 0) over (order by b), lead(a, 1, -1) over (partition by s order by b), lag(a) ignore nulls over (order by b), nth_value(a, 2) over (order by b), lead(a) respect nulls over (order by b) from t
---
select sum(a) over (), sum(a) over (partition by s), sum(a) over (order by b rows between unbounded preceding and current row), sum(a) over (order by b rows between 1 preceding and 1 following), sum(a) over (order by b range between 1 preceding and current row) from t
---
select sum(a) over (order by b rows unbounded preceding), sum(a) over (order by b rows 2 preceding), sum(a) over (order by b rows between current row and unbounded following), sum(a) over (order by d range between interval 1 day preceding and interval 1 day following) from t
---
select sum(a) over w, avg(a) over w, rank() over w2 from t window w as (partition by s order by b), w2 as (order by b desc nulls first)
---
select sum(a) over (w), sum(a) over w from t window w as (partition by s)
---
select first_value(a) over (partition by s order by b), last_value(a) ignore nulls over (partition by s order by b rows between unbounded preceding and unbounded following), first(a, true) over (order by b), nth_value(a, 2) ignore nulls over (order by b) from t
---
select sum(sum(a)) over (order by s), rank() over (order by sum(a) desc) from t group by s
---
select count(*) filter (where flag) over (partition by s), count(distinct a) from t group by s, flag
---
select a, row_number() over (partition by s order by d nulls last, a desc nulls first, b asc) as rn from t order by rn
---
select * from (select a, row_number() over (distribute by s sort by a) as rn from t) where rn = 1
---
select sum(a) over (cluster by s) from t
---
select sum(a) over (partition by s order by b) - lag(sum_b) over (order by b) from (select a, s, b, b as sum_b from t)
---
select collect_list(a) over (partition by s order by b), max(struct(a, b)) over (partition by s), count(*) over (partition by a + 1, upper(s)) from t
---
select sum(a) over (order by b rows between 2 preceding and 1 preceding), sum(a) over (order by b rows between 1 + 1 preceding and current row) from (select *, 1 as a_lit from t)
---
select a from t qualify row_number() over (partition by s order by a) = 1
