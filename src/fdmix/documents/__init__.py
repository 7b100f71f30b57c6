"""Fit topics to documents: from the topics of their word pairs, by passes and sampling."""

from fdmix.documents.fitting import fit_documents
from fdmix.documents.refining import Refinement, refine

__all__ = ["Refinement", "fit_documents", "refine"]
