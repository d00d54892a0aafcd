select * from f(table t distribute by (k, v + 1) sort by (o desc, p), 3, r => table(select 1 as a) with single partition order by (a) + 1) as x(a, b)
