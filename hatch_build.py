"""Fill in the package's README and URLs when it is built.

The address of the repository is one setting: FDMIX_REPOSITORY in the environment, which the publishing workflow sets
to its own repository, or `repository` in pyproject.toml. Without it, the package names no address: an invented one
could belong to somebody else. With it, the README's links to files become addresses, since PyPI has no files.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


class CustomMetadataHook(MetadataHookInterface):
    """Hatchling finds this class by its name."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the fields that pyproject.toml lists as dynamic."""
        repository = (os.environ.get("FDMIX_REPOSITORY") or self.config.get("repository", "")).rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if repository:
            if not repository.startswith("https://"):
                raise ValueError(f"the repository must be an https:// address, not {repository!r}")
            text = with_addresses(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(repository) if repository else {}


def urls(repository: str) -> dict[str, str]:
    """The project's addresses, all in its repository."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }


def with_addresses(text: str, repository: str, tag: str) -> str:
    """The README with links to files of the tagged version."""

    def address(found: re.Match[str]) -> str:
        mark, shown, path = found.groups()
        return f"{mark}[{shown}]({repository}/{'raw' if mark else 'blob'}/{tag}/{path})"

    return RELATIVE_LINK.sub(address, text)
