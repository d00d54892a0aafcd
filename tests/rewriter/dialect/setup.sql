CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM VALUES (
  1, 2, 3, 'abc', DATE '2020-01-31', TIMESTAMP '2020-01-31 10:11:12', 1.5D,
  CAST(12.34 AS DECIMAL(10, 2)), array(1, 2), array('p', 'q'), map('k', 1),
  named_struct('f', 1, 'g', 'x'), array(named_struct('p', 1, 'q', 'x')), X'1F', true,
  '{"a": 1}', 5L
) AS v(a, b, c0, s, d, ts, x, dec, arr, arr_s, m, st, nested, bin, flag, js, big)
---
CREATE OR REPLACE TEMP VIEW u AS SELECT * FROM VALUES (1, 10, 'abc'), (2, 20, 'x') AS v(a, c, s)
---
CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM VALUES (10, 1), (20, 2) AS v(c, z)
---
CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM VALUES (1, 'w') AS v(z, s)
