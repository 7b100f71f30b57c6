"""Graphs as documents: a node's neighbours are its words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.corpus.vocabulary import Vocabulary
from fdmix.runtime.whole_numbers import whole_number


def neighbours(edges: Any, *, directed: bool = False, loops: int = 0) -> tuple[sp.csr_array, Vocabulary | None]:
    """The adjacency matrix, A[i, j] = how often i is joined to j, and the nodes' names (None if they have none).

    edges : a networkx graph, a square scipy sparse adjacency matrix, or an iterable of (i, j) or (i, j, weight)
    directed : whether an edge of a list leads one way only; graphs and matrices know that by themselves
    loops : how often each node counts as its own neighbour, besides the loops that are there

    >>> neighbours([("ann", "bob"), ("bob", "cleo", 2)])[0].toarray()
    array([[0, 1, 0],
           [1, 0, 2],
           [0, 2, 0]])
    """
    loops = whole_number("loops", loops)
    if sp.issparse(edges):
        if edges.ndim != 2 or edges.shape[0] != edges.shape[1]:
            raise ValueError(f"an adjacency matrix is square, not {edges.shape}")
        table, names = sp.csr_array(edges), None
    else:
        table, names = _from_edges(*_listed(edges, directed))
    if loops:
        table = sp.csr_array(table + loops * sp.eye_array(table.shape[0], dtype=table.dtype))
    if table.nnz and ((table.data < 0).any() or (table.data != np.floor(table.data)).any()):
        raise ValueError("edge weights must be whole numbers from 0 upwards: how often two nodes are joined")
    return table, names


def _listed(edges: Any, directed: bool) -> tuple[list[Any], list[Any], bool]:
    """Nodes in the graph's own order, edges, and whether they lead one way only."""
    if hasattr(edges, "is_directed") and hasattr(edges, "nodes"):
        return list(edges.nodes), list(edges.edges(data="weight", default=1)), bool(edges.is_directed())
    if isinstance(edges, str) or not isinstance(edges, Iterable) or getattr(edges, "ndim", 2) != 2:
        raise TypeError("edges are a networkx graph, a scipy sparse adjacency matrix, or pairs of nodes")
    rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
    listed = [tuple(edge) if not isinstance(edge, str) else () for edge in rows]
    for position, edge in enumerate(listed):
        if len(edge) not in (2, 3):
            raise ValueError(f"edge {position} is not (node, node) or (node, node, weight)")
    nodes = dict.fromkeys(node for edge in listed for node in edge[:2])
    return list(nodes), listed, directed


def _from_edges(nodes: list[Any], edges: list[Any], directed: bool) -> tuple[sp.csr_array, Vocabulary]:
    number = {node: i for i, node in enumerate(nodes)}
    tail = np.array([number[edge[0]] for edge in edges], np.int64)
    head = np.array([number[edge[1]] for edge in edges], np.int64)
    weight = np.array([edge[2] if len(edge) == 3 else 1 for edge in edges]) if edges else np.empty(0, np.int64)
    if weight.dtype.kind not in "iufb":
        raise ValueError("edge weights must be whole numbers from 0 upwards: how often two nodes are joined")
    if not directed:
        back = tail != head  # a loop joins a node to itself once
        weight = np.concatenate([weight, weight[back]])
        tail, head = np.concatenate([tail, head[back]]), np.concatenate([head, tail[back]])
    table = sp.coo_array((weight, (tail, head)), shape=(len(nodes), len(nodes)))
    return sp.csr_array(table), tuple(str(node) for node in nodes)
