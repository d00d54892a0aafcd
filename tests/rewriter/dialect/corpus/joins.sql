select t.a from t join u on t.a = u.a
---
select t.a from t inner join u on t.a = u.a and t.b > u.c
---
select t.a, u.c from t left join u on t.a = u.a
---
select t.a, u.c from t left outer join u on t.a = u.a
---
select t.a, u.c from t right join u on t.a = u.a
---
select t.a, u.c from t right outer join u on t.a = u.a
---
select t.a, u.c from t full join u on t.a = u.a
---
select t.a, u.c from t full outer join u on t.a = u.a
---
select t.a from t left semi join u on t.a = u.a
---
select t.a from t semi join u on t.a = u.a
---
select t.a from t left anti join u on t.a = u.a
---
select t.a from t anti join u using (a)
---
select * from t cross join u
---
select * from t join u
---
select * from t inner join u
---
select * from t, u
---
select * from t natural join u
---
select * from t natural left join u
---
select * from t natural full outer join u
---
select * from t join u using (a)
---
select * from t left join u using (a, s)
---
select a, t.b, u.c from t full outer join u using (a)
---
select * from t join u on t.a = u.a join v on u.c = v.c left join w on w.z = v.z
---
select * from t join (u join v on u.c = v.c) on t.a = u.a
---
select * from t left join (u cross join v) on t.a = u.a
---
select * from (t join u on t.a = u.a)
---
select * from t, u join v on u.c = v.c where t.a = u.a
---
select * from t join u join v on t.a = u.a and u.c = v.c
---
select * from t x join t y on x.a = y.b
---
select * from t, lateral (select * from u where u.a = t.a)
---
select * from t join lateral (select max(c) as mc from u where u.a = t.a) l on l.mc > t.b
---
select * from t left join lateral (select c from u where u.a = t.a limit 1) as l on true
---
select * from t cross join lateral (select c from u) as l
---
select * from t join u on t.a <=> u.a and (t.s like u.s or t.b is null)
---
select * from t join u on t.a = u.a and exists (select 1 from v where v.c = u.c)
---
select * from t cross join u on t.a = u.a
---
select l.a from t as l left join u as r on l.a = r.a where r.a is null
---
select * from t left join u on true
---
select left_.a, right_.c from t left_ left join u right_ on right_.a = left_.a
