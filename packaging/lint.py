"""Check files that other services read: workflows, issue forms, the citation, the recipe, the container file.

Schemas and linters come with the dependency group `release` and need no network. Usage: make release-lint
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "citation-file-format": "CITATION.cff",
}


def main() -> None:
    """Run all checks; the exit code says whether one failed."""
    failed = [what for what, command in commands() if subprocess.run(command, cwd=ROOT, check=False).returncode]
    print("Checking the recipe for conda-forge", flush=True)
    check_recipe()
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def commands() -> list[tuple[str, list[str]]]:
    """(what is checked, command) for each linter."""
    tools = Path(sys.executable).parent
    checks = []
    for schema, pattern in SCHEMAS.items():
        files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))
        checks.append((pattern, [str(tools / "check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *files]))
    checks.append(("workflows", [str(tools / "zizmor"), "--offline", "--no-progress", "--quiet", ".github"]))
    checks.append(("container file", [str(tools / "hadolint"), "packaging/container/Containerfile"]))
    return checks


def check_recipe() -> None:
    """Parse and render the recipe as rattler-build does; it raises an error if the recipe is not valid."""
    from rattler_build import Stage0Recipe, VariantConfig  # noqa: PLC0415  (large)

    recipe = Stage0Recipe.from_yaml((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    recipe.render(VariantConfig({"python_min": ["3.11"]}))  # conda-forge sets python_min for all recipes


if __name__ == "__main__":
    main()
