select year(d), quarter(d), month(d), day(d), dayofmonth(d), dayofweek(d), dayofyear(d), weekofyear(d), weekday(d), hour(ts), minute(ts), second(ts), dayname(d), monthname(d) from t
---
select extract(year from d), extract(month from d), extract(day from d), extract(week from d), extract(dow from d), extract(doy from ts), extract(quarter from d), extract(yearofweek from d) from t
---
select extract(hour from ts), extract(minute from ts), extract(second from ts), extract(days from interval 5 days 3 hours), extract(dayofweek_iso from d), extract(MONTHS from d) from t
---
select date_part('year', d), date_part('SECONDS', ts), datepart('month', d) from t
---
select date_add(d, 1), date_sub(d, 1), date_add(d, a), date_add(d, -a), dateadd(d, 1), date_sub(d, a + 1) from t
---
select date_add(day, 1, ts), dateadd(month, 2, d), dateadd(HOUR, a, ts), timestampadd(minute, 5, ts), dateadd(week, -1, d), date_add(dayofyear, 1, d) from t
---
select datediff(d, '2020-01-01'), date_diff(d, d), datediff(day, d, ts), date_diff(month, d, ts), timestampdiff(second, d, ts), datediff(quarter, d, current_ts) from (select d, ts, ts as current_ts from t)
---
select add_months(d, 1), months_between(d, d), months_between(ts, d, false), last_day(d), next_day(d, 'MON') from t
---
select date_trunc('month', ts), date_trunc('WEEK', d), date_trunc(s, ts), trunc(d, 'MM'), trunc(d, 'year'), trunc(d, s), date_trunc('yyyy', ts) from t
---
select to_date(s), to_date(s, 'yyyy-MM-dd'), to_date(s, 'dd/MM/yyyy'), to_date(s, 'yyyyMMdd'), to_date(ts), to_date(s, s), try_to_date(s) from t
---
select to_timestamp(s), to_timestamp(s, 'yyyy-MM-dd HH:mm:ss'), to_timestamp(s, 'y-M-d H:m:s.SSS'), try_to_timestamp(s, 'yyyy'), to_timestamp_ntz(s), to_timestamp_ltz(s, 'yyyy'), to_timestamp(a) from t
---
select to_unix_timestamp(s), to_unix_timestamp(s, 'yyyy-MM-dd'), unix_timestamp(ts), unix_timestamp(s, 'yyyy-MM-dd'), unix_timestamp(s), from_unixtime(a), from_unixtime(a, 'yyyy-MM-dd HH:mm:ss'), from_unixtime(a, 'yyyy') from t
---
select date_format(d, 'yyyy-MM-dd'), date_format(ts, 'EEE, d MMM yyyy HH:mm:ss'), date_format(ts, "yyyy-MM-dd'T'HH:mm"), date_format(ts, 'Q q w u a h K k') from t
---
select make_date(2020, 1, 2), make_timestamp(2020, 1, 2, 3, 4, 5.5), make_timestamp(2020, 1, 2, 3, 4, 5, 'UTC'), make_timestamp_ntz(2020, 1, 2, 3, 4, 5), make_timestamp_ltz(2020, 1, 2, 3, 4, 5) from t
---
select from_utc_timestamp(ts, 'Asia/Tokyo'), to_utc_timestamp(ts, 'Asia/Tokyo'), from_utc_timestamp(s, 'GMT+1'), convert_timezone('UTC', 'Asia/Tokyo', timestamp_ntz '2020-01-01 00:00:00'), convert_timezone('Asia/Tokyo', timestamp_ntz '2020-01-01 00:00:00') from t
---
select unix_date(d), unix_seconds(ts), unix_millis(ts), unix_micros(ts), date_from_unix_date(a), timestamp_seconds(a), timestamp_millis(a), timestamp_micros(a) from t
---
select now(), current_timestamp, current_timestamp(), localtimestamp(), current_date, current_date(), curdate(), unix_timestamp(), current_timezone() from t
---
select current_time, current_time(), current_time(3), current_user, current_user(), user(), user, session_user, session_user(), current_catalog(), current_database(), current_schema(), version() as v from t
---
select d between '2020-01-01' and date '2021-01-01', d > '2020-01-01', ts < d, d = ts, d in ('2020-01-01', date '2020-02-01') from t
---
select window(ts, '5 minutes') as w, count(*) from t group by window(ts, '5 minutes')
---
select window.start, window.end, sum(a) from t group by window(ts, '10 minutes', '5 minutes')
---
select session_window(ts, '5 minutes') as w, count(*) from t group by session_window(ts, '5 minutes')
---
select sequence(d, date '2022-01-01', interval 1 month), sequence(1, 5), sequence(5, 1, -1) from t
---
select ts at_alias, d as date, ts as timestamp, year(d) as year, month(d) month from t
---
select hour, date, timestamp, interval, time from (select a as hour, d as date, ts as timestamp, b as interval, s as time from t)
---
select make_time(1, 2, 3.5), to_time('10:11:12'), to_time('10:11', 'HH:mm'), hour(time '10:11:12'), time_trunc('HOUR', time '10:11:12'), time_diff('HOUR', time '10:11:12', time '11:11:12') from t
