"""The paper's experiments, a folder each: a script, its results, and a README with the verdict."""
