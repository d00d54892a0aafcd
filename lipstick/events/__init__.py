"""Streams of provenance events, reduced while they come to who came from whom.

Jobs of any kind emit edges of PROV while they run; a parallel reduction keeps which output came
from which input and drops the rest before anything is stored. See Suriarachchi, Withana and Plale,
*Big Provenance Stream Processing for Data Intensive Computations*, and `graphquery.reduction`.
"""
