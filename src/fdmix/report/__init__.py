"""An interactive report of a model: one HTML file that opens from disk and needs no network."""

from fdmix.report.groups import group_shares
from fdmix.report.representatives import Representative, representatives
from fdmix.report.writing import write_report

__all__ = ["Representative", "group_shares", "representatives", "write_report"]
