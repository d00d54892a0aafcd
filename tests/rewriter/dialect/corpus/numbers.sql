select 1L, 1S, 1Y, 1.5D, 1.5F, 1.5BD, 1e3, 1E-2, 1.5e+3, 1e3BD, 1.50BD, 10l, 3y, 2bd from t
---
select 1.0, 1.50, .5, 5., 0.10, 00012, 123456789012, 99999999999999999999 from t
---
select -1, - 1, +1, -a, +a, - - a, -(-1), -1L, -9223372036854775808L from t
---
select hash(1L), hash(1), hash(1S), hash('1'), hash(1.0), hash(1D) from t
---
select a + b, a - b, a * b, a / b, a % b, a div b, mod(a, b), div(a, b) from t
---
select a - (b - c0), a - b - c0, a / (b * c0), a / b * c0, (a + b) * c0, -(a + b), a % (b % c0) from t
---
select a & b, a | b, a ^ b, ~a, a << 2, a >> 1, a >>> 1, shiftleft(a, 2), shiftright(a, 1), shiftrightunsigned(a, 1) from t
---
select a & b | c0 ^ a, (a & b) = 1, a + b & c0, a | b + c0, ~a + 1, ~(a + 1), a << b + 1, (a << b) + 1 from t
---
select bit_count(a), bit_get(a, 0), getbit(a, 1), bitmap_bit_position(a), bitmap_bucket_number(a) from t
---
select abs(a), sign(a), signum(x), negative(a), positive(a), ceil(x), ceiling(x), floor(x), ceil(dec, 1), floor(dec, 1), ceil(x, -1) from t
---
select round(x), round(dec, 1), bround(dec, 1), truncate_me from (select a as truncate_me, x, dec from t)
---
select exp(x), ln(x), log(x), log(2, x), log10(x), log2(x), log1p(x), expm1(x), pow(a, 2), power(a, 2), sqrt(x), cbrt(x), 1 from t
---
select exp(x), ln(x), log(x), log(2, x), log10(x), log2(x), log1p(x), expm1(x), pow(a, 2), power(a, 2), sqrt(x), cbrt(x) from t
---
select sin(x), cos(x), tan(x), asin(x), acos(x), atan(x), atan2(x, 1), sinh(x), cosh(x), tanh(x), cot(x), sec(x), csc(x), degrees(x), radians(x), hypot(x, 1), pi(), e() from t
---
select greatest(a, b), least(a, b), greatest(a, b, c0), factorial(5), bin(a), conv('ff', 16, 10), width_bucket(x, 0, 10, 5), rint(x), pmod(a, 3), hex(255) from t
---
select try_add(a, b), try_subtract(a, b), try_multiply(a, b), try_divide(a, b), try_mod(a, b) from t
---
select rand() as r, rand(5) as r5, random() as rr, randn() as rn, randn(5) as rn5, uuid() as u from t
---
select isnan(x), nanvl(x, 0), float('nan'), double('infinity'), cast('NaN' as double) from t
---
select a = 1 and b = 2 or not flag, a = 1 or b = 2 and flag, not (a = 1 or flag), not a = 1, !flag, ! (a = 1) from t
---
select not a is null, not a in (1, 2), not a between 1 and 2, not s like 'a', not not flag from t
---
select dec + 1, dec * 1.1, dec / 3, dec % 2, dec + 1.5BD, dec * 2L, 1.1 + 1.1e0 from t
---
select 1/2, 5 / 2, 5 div 2, 7 % 4, interval '1' day / 2, 2 * interval '1' day from t
---
select bool_and(flag), every(flag), bool_or(flag), some(flag), any(flag) from t
