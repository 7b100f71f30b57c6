"""Fit topics to documents: from the topics of their word pairs, by CVB0 passes and Gibbs sampling."""

from fdmix.documents.document_fit import Refinement
from fdmix.documents.fitting import fit_documents
from fdmix.documents.refining import refine

__all__ = ["Refinement", "fit_documents", "refine"]
