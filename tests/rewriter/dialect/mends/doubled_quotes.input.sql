SELECT 'it''s' AS v, "say ""hi""" AS w
