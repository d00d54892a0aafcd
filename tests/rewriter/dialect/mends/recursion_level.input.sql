with recursive r(n) max recursion level 7 as (select 1 union all select n + 1 from r where n < 5), s as (select 2) select * from r, s
