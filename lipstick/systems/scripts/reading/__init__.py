"""From the syntax tree of a script to its initial graph (Huq et al., section IV-B)."""
