"""The paper's experiments, a folder each; their verdicts are in docs/evidence/experiments."""
