select * from t
---
select t.* from t
---
select a, t.* from t
---
select * except (a) from t
---
select * except (a, b), a as z from t
---
select t.* except (st.f) from t
---
select a x, b as y, s as `odd name`, a as `a.b`, b as `tick``name` from t
---
select `odd name`, `a.b`, `tick``name` from (select a as `odd name`, b as `a.b`, s as `tick``name` from t)
---
select a as date, b as year, s as table, d as value, x as key, flag as first from t
---
select a as left_, b as order_, s as comment, d as format, x as percent, big as position, flag as language from t
---
select `select`, `from`, `group`.a from (select a as `select`, b as `from` from t) cross join (select a from u) as `group`
---
select value, key, name, type, data, id, index, level, rank, row, rows, range, option, role, user_, source from (select a as value, a as key, a as name, a as type, a as data, a as id, a as index, a as level, a as rank, a as row, a as rows, a as range, a as option, a as role, a as user_, a as source from t)
---
select end_, offset, minute, window, map, array, struct, current, schema, view, cost, desc_ from (select a as end_, a as offset, a as minute, a as window, a as map, a as array, a as struct, a as current, a as schema, a as view, a as cost, a as desc_ from t)
---
select T.A, T.`a`, a from T
---
select 1
---
select 1 as a, 2 as b where 1 = 1
---
select a from t where a > 1 and b < 2 order by a limit 10
---
select a from t order by a desc nulls last, b asc nulls first, s limit 5 offset 2
---
select a from t order by a offset 3
---
select a from t limit all
---
select a from t limit 1 + 1
---
select a, b from t order by all
---
select a, b from t order by all desc
---
select a, b from t order by 1, 2 desc
---
select a from t sort by a
---
select a from t distribute by a sort by b desc
---
select a from t cluster by a
---
select a from t tablesample (10 percent)
---
select a from t tablesample (5 rows)
---
select a from t tablesample (bucket 1 out of 4)
---
select a from t tablesample (10 percent) repeatable (42)
---
select a from (select a, b from t where b > 1) where a < 5
---
select q.a from (select a from t) q
---
select q.z from (select a from t) as q(z)
---
select a from ((select a from t))
---
select x.a, y.a from t x, u y where x.a = y.a
---
select v.a, v.b from values (1, 'x'), (2, 'y') as v(a, b)
---
values (1, 'x'), (2, 'y')
---
values 1, 2, 3
---
select * from (values (1, 2), (3, 4)) as v(p, q) where p > 1
---
select * from values (1, null), (cast(null as int), 'a') v
---
select col1 from values (1), (2)
---
select * from values 1, 2 as v(x)
---
values (1, 2) as v(p, q) order by p
---
with c as (select a from t) select * from c
---
with c(z) as (select a from t), d as (select z from c where z > 1) select * from c join d on c.z = d.z
---
with c as (select a from t) select (with e as (select max(a) as m from c) select m from e) as v from c
---
select * from (with c as (select a from t) select * from c) q
---
with c as (with e as (select a from t) select * from e) select a from c
---
with t as (select a from u) select a from t
---
select a from t union select a from u
---
select a from t union all select a from u
---
select a from t union distinct select a from u
---
select a from t intersect select a from u
---
select a from t intersect all select a from u
---
select a from t except select a from u
---
select a from t except all select a from u
---
select a from t minus select a from u
---
select a from t minus all select a from u
---
select a from t union select a from u intersect select c from u
---
(select a from t union select a from u) intersect select c from u
---
select a from t except select a from u union all select c from u
---
select a from t except (select a from u union all select c from u)
---
(select a from t limit 1) union all (select a from u limit 2)
---
select a from t union all select a from u order by a limit 3
---
(select a from t order by a limit 2) order by a desc
---
table t
---
from t select a
---
select a from t where exists (select 1 from u where u.a = t.a)
---
select a from t where not exists (select * from u where u.a = t.a and u.c > 1)
---
select a from t where a in (select a from u)
---
select a from t where a not in (select a from u where c is not null)
---
select a from t where (a, b) in (select a, c from u)
---
select a from t where (a, b) not in (select a, c from u)
---
select a, (select max(c) from u where u.a = t.a) as m from t
---
select a from t where b > (select avg(c) from u) and a = (select min(a) from u)
---
select (select count(*) from u) + 1, case when exists (select 1 from u) then 1 else 0 end from t
---
select * from t pivot (sum(b) for s in ('x', 'y'))
---
select * from (select a, b, s from t) pivot (sum(b) as total, avg(b) for s in ('x' as p, 'y' as q))
---
select * from (select a, b, s from t) pivot (max(b) for (a, s) in ((1, 'x') as p, (2, 'y') as q))
---
select * from (select a, b, s from t) pivot (sum(b) for s in ('x', 'y')) as pv where a = 1
---
select * from (select a, b, c0 from t) unpivot (val for name in (b, c0))
---
select * from (select a, b, c0 from t) unpivot include nulls (val for name in (b as bee, c0 as `cee`)) as up
---
select * from (select a, b, c0, big from t) unpivot ((v1, v2) for name in ((b, c0) as p, (b, big) as q))
---
select /*+ broadcast(u) */ t.a from t join u on t.a = u.a
---
select /*+ BROADCAST(t), MERGE(u) */ t.a from t join u on t.a = u.a
---
select /*+ repartition(3, a) */ a from t
---
select /*+ coalesce(1) */ a from t
---
select /*+ shuffle_hash(u) */ t.a from t join u using (a)
---
select /*+ mapjoin(u) */ t.a from t join u using (a)
---
select /*+ repartition_by_range(a) rebalance */ a from t
---
select a -- trailing comment
from t /* block
comment */ where /* here */ a > 1 -- last
---
/* leading */ select a /* + not a hint */ from t
---
select a /* nested /* comment */ still */ from t
---
select a, from_me from (select a, b as from_me from t)
---
select a from t;
---
select if(a = 1, b, c0) as if_, `if` from (select *, 1 as `if` from t)
---
select a from identifier('t')
---
select identifier('a') from t
---
select t.a, system_user_ from t, lateral (select t.b as system_user_)
---
select max(a), min(b) from t having max(a) > 1
---
select * from t where true
---
select a + 1 as b1, b1 * 2 as c1 from t
---
select sum(a) as total, total / 2 from t
---
select a from t as x(a, b, c0, s, d, ts, x, dec, arr, arr_s, m, st, nested, bin, flag, js, big)
---
select `t`.`a`, `T`.a from `t`
---
select a from t where a = 1 group by a having a > 0 order by a limit 2
---
select distinct on_ from (select a as on_ from t)
---
select a alias_, b from_ from t where a=-1 and b>-2 and a<>-b
---
select a from t order by a + b, upper(s) desc, case when flag then 1 else 2 end
---
select a from t order by s, a
---
select s from t group by s order by max(a) desc, count(*)
---
select date_dim_.d from (select d from t) date_dim_ where year(date_dim_.d) = 2020
---
select 1 a, 2 a
---
select *, a as a, a + 1 from t
---
select a, b as b from t, (select a as z from u) limit 3
---
select array_t.v, t.a from t lateral view explode(arr) array_t as v where array_t.v = t.a
---
select cast(a as int) as int, string(a) as string, a as binary, b as boolean, c0 as double, big as bigint from t
---
select t.a is null as n, (t.a) as p, ((t.a + 1)) as q, (((select 1))) as r from t
---
table t
---
(table t) limit 1
---
with x as (table t) table x order by a
---
select a, c from u where (a, c) in (select a, c from u) union all table v
---
select * from (table u) as y(p, q, r) where exists (table v) or p in (select 1 minus (table v |> select c))
---
from v |> union all table v
