"""The experiments of Suriarachchi, Withana and Plale measured again: streams of events, reduced."""
