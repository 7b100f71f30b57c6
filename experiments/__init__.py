"""The paper's claims, each in a folder: a short script, its numbers, and a README with the verdict."""
