select cast(a as string), cast(s as int), cast(a as bigint), cast(a as smallint), cast(a as tinyint), cast(a as double), cast(a as float), cast(a as boolean) from t
---
select cast(a as long), cast(a as short), cast(a as byte), cast(a as integer), cast(x as real), cast(a as dec(10, 2)), cast(a as numeric(5)), cast(a as decimal), cast(a as decimal(38, 18)) from t
---
select cast(s as date), cast(s as timestamp), cast(s as timestamp_ntz), cast(s as timestamp_ltz), cast(s as binary) from t
---
select cast(s as varchar(3)), cast(s as char(5)), cast(s as varchar(10)) = 'x' from t
---
select try_cast(s as int), try_cast(s as date), try_cast(s as decimal(5, 1)) from t
---
select s::int, a::string, (a + b)::double, s::int::string, s::decimal(5, 2), '1'::int + 1, -1::string, arr::array<string> from t
---
select a::int + b::int, a + b::int, not flag::boolean, st.f::string, m['k']::string, arr[0]::string from t
---
select cast(null as int), cast(null as struct<p: int, q: string>), cast(null as map<string, array<int>>), cast(null as array<struct<p int, q string>>) from t
---
select cast(st as struct<f: bigint, g: string>), cast(arr as array<bigint>), cast(null as void), cast(null as struct<`odd name`: int, `b-c`: string>) from t
---
select cast('1' as interval day), cast('1-2' as interval year to month), cast('1 10' as interval day to hour), cast('1:10' as interval hour to minute), cast('1 01:02:03' as interval day to second) from t
---
select int(s), bigint(a), smallint(a), tinyint(a), double(s), float(s), string(a), boolean(s), date(s), timestamp(s), decimal(a), binary(s) from t
---
select date '2020-01-31', timestamp '2020-01-31 10:11:12', timestamp_ntz '2020-01-31 10:11:12', timestamp_ltz '2020-01-31 10:11:12', DATE'2020-01-31' from t
---
select timestamp '2020-01-31 10:11:12 Europe/Berlin', timestamp '2020-01-31T10:11:12.123456Z', date '2020-1-3' from t
---
select time '10:11:12', cast('10:11:12' as time), cast('10:11:12' as time(3)) from t
---
select interval '1' day, interval 1 day, interval '1-2' year to month, interval '1 2:3:4' day to second, interval '10:30' hour to minute from t
---
select interval 1 day 2 hours, interval '1 day 2 hours', interval 1 year 2 months, interval '3' month, interval -1 day, - interval 1 day, interval '-1' day, interval 1 week 2 days from t
---
select interval 2 days 3 minutes 4 seconds, interval '1.5' second, interval 1.5 second, interval 5 milliseconds, interval 7 microseconds, interval '2' hours from t
---
select d + interval 1 day, ts - interval '2' hour, d + interval '1' month, ts + interval 1 day 2 hours, interval 1 day + d, d - date '2020-01-01', ts - timestamp '2020-01-01' from t
---
select make_interval(1, 2), make_dt_interval(1), make_ym_interval(1, 2), try_make_interval(1) from t
---
select cast(a as string collate utf8_lcase), cast(parse_json(js) as int), cast(js as variant) from t
---
select typeof(1L), typeof(1.5BD), typeof(1e3), typeof(1.50), typeof(cast(a as decimal(7, 3))), typeof(interval '1' day), typeof(x'1f'), typeof(null) from t
---
select true, false, TRUE, null, NULL, true and null from t
---
select cast(d as string) || cast(ts as string), date(ts), cast(ts as date), timestamp(d) from t
---
select cast(a = b as int), cast(a + 1 as string), cast((select max(a) from t) as string), cast(case when flag then 1 end as string) from t
