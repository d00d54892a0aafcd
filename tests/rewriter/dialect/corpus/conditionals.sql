select case when a = 1 then 'x' when a = 2 then 'y' else 'z' end, case a when 1 then 'x' when 2 then 'y' end, case when flag then null else 0 end from t
---
select if(a > 1, 'x', 'y'), nvl(a, 0), nvl2(a, 1, 2), ifnull(a, 0), nullif(a, 0), coalesce(a, b, 0), coalesce(a), zeroifnull(a), nullifzero(a) from t
---
select isnull(a), isnotnull(a), a is null, a is not null, a <=> b, a <=> null, equal_null(a, b), a == b, a != b, a <> b, not a <=> b from t
---
select a is distinct from b, a is not distinct from b, flag is true, flag is not true, flag is false, flag is not false, flag is unknown, flag is not unknown, (a = 1) is true from t
---
select a between 1 and 2, a not between b and c0, a in (1, 2, 3), a not in (1, 2), (a, b) in ((1, 2), (3, 4)), a in (1), s in ('a', 'b') from t
---
select (a = 1) = flag, a < b = flag, (a < b) = (b < c0), a > b is null, a + 1 between 2 and 3 and flag, (a in (1, 2)) = flag, a = (b = 1)::int from t
---
select case when a in (1, 2) and b between 1 and 2 or s like 'x%' then 1 else 2 end, case (a + 1) when b then case when flag then 1 else 2 end end from t
---
select assert_true(a > 0), raise_error('x'), typeof(a), monotonically_increasing_id() as id, spark_partition_id() as p, input_file_name() as f from t
---
select and_or from (select a = 1 and b = 1 as and_or, a as `and`, b as `or` from t) where and_or or not and_or
---
select flag and not flag or flag, (flag or flag) and flag, flag or flag and flag, not flag and flag, not (flag and flag) from t
---
select coalesce(nullif(s, ''), 'none') as v, if(flag, if(a = 1, 1, 2), 3) as w, case when a > 1 then if(flag, 1, 2) end from t
---
select java_method('java.lang.Math', 'abs', 1), reflect('java.lang.Math', 'abs', -1), stack_me from (select a as stack_me from t)
