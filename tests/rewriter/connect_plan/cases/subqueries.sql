-- title: subquery
{
 "common": {"plan_id": "882"},
 "with_relations": {
  "root": {
   "common": {"plan_id": "881"},
   "filter": {
    "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "condition": {
     "subquery_expression": {
      "plan_id": "880",
      "subquery_type": "SUBQUERY_TYPE_IN",
      "in_subquery_values": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
     }
    }
   }
  },
  "references": [
   {
    "common": {"plan_id": "880"},
    "project": {
     "input": {
      "common": {"plan_id": "1"},
      "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
     },
     "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
    }
   }
  ]
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.k IN (
    SELECT
      r.k
    FROM r
  )

-- title: subquery as table
{
 "common": {"plan_id": "882"},
 "with_relations": {
  "root": {
   "common": {"plan_id": "881"},
   "filter": {
    "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "condition": {
     "subquery_expression": {"plan_id": "880", "subquery_type": "SUBQUERY_TYPE_TABLE_ARG"}
    }
   }
  },
  "references": [
   {
    "common": {"plan_id": "880"},
    "project": {
     "input": {
      "common": {"plan_id": "1"},
      "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
     },
     "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
    }
   }
  ]
 }
}
-- error
UnsupportedError: in this data frame, a frame as the argument of a function has no rule
Compute it before tracking, or write this part as a query for sql().
