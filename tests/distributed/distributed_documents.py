"""Documents for tests of clusters: texts with dates and parties, and random partitions of them."""

import random
from itertools import pairwise

import pyarrow as pa

WORDS = ["cats", "cat", "dogs", "dog", "mouse", "mice", "learning", "learned", "the", "of", "neural", "network"]
RARE = [f"word{n}x" for n in range(60)]


def corpus(n_documents=400, seed=0):
    """A table of short documents, some of them empty, null or repeated."""
    rng = random.Random(seed)
    texts = []
    for _ in range(n_documents):
        n_tokens = rng.choice([0, 1, 2, 5, 9, 14])
        tokens = [rng.choice(WORDS if rng.random() < 0.8 else RARE) for _ in range(n_tokens)]
        texts.append(" ".join(tokens).replace("neural", "neural network"))
    texts[3], texts[7], texts[8] = None, texts[6], texts[6]
    dates = [None if rng.random() < 0.05 else f"2021-{rng.randint(1, 3):02d}-{rng.randint(1, 28):02d}" for _ in texts]
    parties = [rng.choice(["D", "R"]) for _ in texts]
    return pa.table(
        {"id": list(range(n_documents)), "text": texts, "date": dates, "party": parties},
        schema=pa.schema([("id", pa.int64()), ("text", pa.string()), ("date", pa.string()), ("party", pa.string())]),
    )


def random_partitions(table, seed, n_partitions=6):
    """The rows in random order, in partitions of random sizes, of which some are empty."""
    rng = random.Random(seed)
    order = list(range(table.num_rows))
    rng.shuffle(order)
    shuffled = table.take(order)
    cuts = sorted(rng.randint(0, table.num_rows) for _ in range(n_partitions - 1))
    cuts = [0, cuts[0], *cuts, table.num_rows]  # the second partition is empty
    return [shuffled.slice(begin, end - begin) for begin, end in pairwise(cuts)]


def saved_bytes(result, folder):
    """The bytes of the file that a count is saved to."""
    path = folder / "saved"
    result.save(path)
    return path.read_bytes()
