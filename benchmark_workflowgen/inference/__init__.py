"""The figures of inference (Huq et al., section VI) measured again: accuracy and storage."""
