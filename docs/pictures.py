"""Make the pictures of docs/how-to/plots.md by running its examples: `python docs/pictures.py`."""

import os
import re
import tempfile
from pathlib import Path

from PIL import Image

# Files with a palette are a third as large; this way of choosing it keeps the hues of colour scales.
N_COLOURS, QUANTISER = 256, Image.Quantize.MAXCOVERAGE
HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def main() -> None:
    """Run all examples of the page in one go; pictures are replaced only if all of them are made."""
    page = HERE / "how-to" / "plots.md"
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            exec(compile(block, str(page), "exec"), names)
        for picture in sorted(Path(folder).glob("*.png")):
            small = Image.open(picture).convert("RGB").quantize(N_COLOURS, QUANTISER)
            small.save(HERE / "images" / picture.name, optimize=True)
        os.chdir(HERE)


if __name__ == "__main__":
    main()
