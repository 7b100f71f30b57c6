"""How large is what the task of one partition gives, kept tokens and partial moments, as it travels on a cluster?"""

import pickle

import pyarrow.parquet as pq

from benchmarks.data import data_file
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import read_moments
from fdmix.distributed.counting import CountPartition
from fdmix.distributed.partial_moments import row_edges
from fdmix.distributed.tokens import Tokenise
from fdmix.text.layouts import Layout

N_WORDS = (5_000, 15_000)
CHOSEN_FROM = 100_000  # documents: which words these are matters little for the sizes
N_DOCUMENTS = (10_000, 100_000, 500_000)  # in a partition


def main():
    path = data_file("tweets.parquet")
    if path is None:
        return
    print(f"# partials\n{machine()}")
    table = pq.read_table(path, columns=["text"])
    for n_words in N_WORDS:
        words = read_moments(table.slice(0, CHOSEN_FROM), column="text", preset="tweets", max_words=n_words)
        cleaning, edges = words.preparation.cleaning, tuple(row_edges(words.n_words))
        for n_documents in N_DOCUMENTS:
            tokens = Tokenise(cleaning, Layout("text"))(table.slice(0, n_documents))
            blocks = CountPartition(words.vocabulary, cleaning, (), 0, "tokens", edges, None)([tokens])
            sizes = [len(pickle.dumps(block, protocol=5)) for block in blocks]
            n_pairs = sum(block.cells[()].n_pairs for block in blocks)
            row = f"{words.n_words} words, {n_documents} documents"
            numbers = {
                "million_pairs": n_pairs / 1e6, "token_megabytes": len(pickle.dumps(tokens, protocol=5)) / 1e6,
                "megabytes": sum(sizes) / 1e6, "bytes_a_pair": sum(sizes) / n_pairs, "blocks": len(blocks),
                "largest_megabytes": max(sizes) / 1e6,
            }  # fmt: skip
            record(row, **numbers)
            print(row, {name: round(value, 2) for name, value in numbers.items()})
