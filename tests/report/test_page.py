"""How the page is put together: modules become one script, nothing from outside can run, data stays data."""

import base64
import gzip
import hashlib
import json
import re

import numpy as np
import pytest
from hostile import HOSTILE_WORDS

from fdmix import Mixture
from fdmix.report import assembling, write_report
from fdmix.report.assembling import assembled, joined_modules
from fdmix.report.encoding import LOG_STEP, ZERO, as_logarithms, as_signed_logarithms, packed

D3_SHA256 = "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"


def test_d3_is_the_file_of_the_registry_and_has_its_licence():
    vendor = assembling.files("fdmix.report") / "page" / "vendor"
    assert hashlib.sha256((vendor / "d3-7.9.0.min.js").read_bytes()).hexdigest() == D3_SHA256
    assert D3_SHA256 in (vendor / "SHA256SUMS").read_text()
    assert "Mike Bostock" in (vendor / "d3-LICENSE.txt").read_text()


def test_modules_become_functions_after_those_they_import():
    script = joined_modules(
        {
            "a.js": 'import { two } from "./b.js";\nexport const four = 2 * two();\n',
            "b.js": "const hidden = 2;\nexport function two() { return hidden; }\n",
            "c.js": "export const unused = 1;\n",
        },
        "a.js",
    )
    assert script.index("const b_js") < script.index("const a_js")
    assert "const { two } = b_js;" in script
    assert "return { four };" in script
    assert "import" not in script
    assert "export" not in script
    assert "unused" not in script


@pytest.mark.parametrize(
    "text",
    [
        'import * as d3 from "d3";',
        'import "./b.js";',
        "export default 3;",
        "export { a };",
        'import { a } from "./missing.js";',
        'const text = "</script>";',
    ],
)
def test_other_imports_and_exports_are_refused(text):
    with pytest.raises(ValueError, match=r"a\.js"):
        joined_modules({"a.js": text}, "a.js")


def test_only_the_pages_own_scripts_and_styles_may_run():
    page = assembled("title", "")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    packed = [re.search(f'id="{name}-packed">(.*?)</script>', page)[1] for name in ("d3", "page")]
    unpacked = [gzip.decompress(base64.b64decode(text)).decode() for text in packed]
    assert "forceSimulation" in unpacked[0]
    assert "const main_js" in unpacked[1]
    for text in (script, style, *unpacked):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    assert not re.search(r"@import|url\(", style)


def test_hostile_words_never_reach_the_markup(tmp_path):
    """All words are inside of base64, so the page around it is the same whatever they are."""
    words = list(HOSTILE_WORDS)
    topics = np.full((3, len(words)), 1 / len(words))
    pages = []
    for names in (words, [f"w{u}" for u in range(len(words))]):
        mixture = Mixture(topics, vocabulary=names, labels={0: "</script>" if names is words else "label"})
        write_report(mixture, tmp_path / "r.html", title="the title")
        page = (tmp_path / "r.html").read_text("utf-8")
        pages.append(re.sub(r'(id="data-packed">)[^<]*', r"\1", page))
    assert pages[0] == pages[1]


def test_a_title_is_escaped():
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in assembled("</title><script>", "")


def test_the_same_report_has_the_same_bytes(tmp_path):
    mixture = Mixture([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], vocabulary=["ant", "bee", "cat"])
    for name in ("a.html", "b.html"):
        mixture.report(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        Mixture([[1.0]]).report(tmp_path / "missing" / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_packed_arrays_come_back():
    arrays = {
        "small": np.array([0, 255], np.uint8),
        "large": np.array([1, 256, 65_535], np.uint16),
        "huge": np.array([1, 70_000, 2**32 - 1], np.uint32),
    }
    content = gzip.decompress(base64.b64decode(packed({"a": "é"}, arrays)))
    length = int.from_bytes(content[:4], "little")
    facts, rest = json.loads(content[4 : 4 + length]), content[4 + length :]
    assert facts["a"] == "é"
    for name, (size, at, n) in facts["arrays"].items():
        planes = np.frombuffer(rest[at : at + size * n], np.uint8).reshape(size, n).astype(np.int64)
        assert (planes * (256 ** np.arange(size))[:, None]).sum(axis=0).tolist() == arrays[name].tolist()
    with pytest.raises(TypeError, match="uint8"):
        packed({}, {"floats": np.array([1.0])})


def test_probabilities_are_precise_to_one_percent():
    values = np.concatenate([[0.0], np.geomspace(1e-12, 1, 5_000)])
    codes = as_logarithms(values)
    assert codes[0] == ZERO
    assert np.abs(np.exp(-LOG_STEP * codes[1:]) / values[1:] - 1).max() < 0.0101


def test_ratios_beyond_the_scale_stay_at_its_ends():
    assert as_signed_logarithms([1e-99, 1e99, 0.0], 0.05).tolist() == [1, 255, 0]
