"""The paper's consistency theorem, made visible."""
