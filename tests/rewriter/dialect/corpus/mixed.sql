select id from range(3) where id between 1 and 2 and not id between 0 and 1 or id is not distinct from 1
---
select id, id -1, id-1, -id-1, 1 -1 from range(3)
---
select -2 % 3, 2 * -3, 5 - -3, 10 div 3 * 2, 7 / 2 * 3, 2 - 3 + 4, 1 + 2 || 3
---
select not true = false, not 1 < 2 and true, true and not false or true, 1 < 2 = true
---
select named_struct('a', 1).a, map('a', struct(1 as b))['a'].b, array(struct(1 as b))[0].b from range(1)
---
select id.x, x.y.z from (select struct(1 as x) id, named_struct('y', named_struct('z', 1)) x)
---
select * from range(2) a left join range(3) b on a.id = b.id left anti join range(4) c on c.id = a.id, range(1) d
---
select * from range(3) where id in (select max(id) from range(3) group by id % 2 having max(id) > 0)
---
select 1 as date, 2 as timestamp, 3 as time, 4 interval
---
select user from (select 1 as user)
---
select sum(id) filter (where id > 1) over (order by id) from range(3)
---
with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select * from r
---
select 'a' like 'b' = true
---
select current_date from (select 1 as current_date)
---
select id from range(3) |> where id > 1
