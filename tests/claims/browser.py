"""What headless Chromium says of a page at a given width, through an ordinary command: no driver is needed.

The page is shown in a frame of that width, which is a viewport as a window is, and tells the page around it how wide
it has become and which figures it has; what the outer page is told is read from its dump.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")

_PROBE = """<script>
addEventListener("load", () => {
  const root = document.documentElement;
  const wide = [...document.querySelectorAll("body *")].filter(one =>
    !one.closest(".scroll *") && one.getBoundingClientRect().right > root.clientWidth + 0.5);
  const images = [...document.images];
  parent.postMessage({
    width: root.clientWidth, needed: root.scrollWidth,
    wide: wide.map(one => one.tagName + " " + one.textContent.slice(0, 40)),
    hidden: [...document.querySelectorAll("table")[0].querySelectorAll("td")].filter(one =>
      one.getBoundingClientRect().right > root.clientWidth + 0.5).length,
    figures: images.length,
    missing: images.filter(one => !one.complete || one.naturalWidth === 0 || one.clientWidth === 0)
                   .map(one => one.alt),
  }, "*");
});
</script>"""

_OUTER = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><pre id="told">silence</pre><script>
addEventListener("message", event => document.getElementById("told").textContent = JSON.stringify(event.data));
</script><iframe src="probed.html" style="border:0;width:{width}px;height:900px"></iframe></body>"""


def chromium() -> str | None:
    """The path of Chromium or a relative of it; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def look(program: str, text: str, folder: Path, *, width: int) -> dict[str, Any]:
    """Show a page of this width and return what it says of itself."""
    (folder / "probed.html").write_text(text.replace("</body>", f"{_PROBE}</body>"), encoding="utf-8")
    (folder / "outer.html").write_text(_OUTER.format(width=width), encoding="utf-8")
    words = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1000",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000", "--dump-dom",
        (folder / "outer.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=True)
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert found, done.stderr
    from html import unescape

    told: dict[str, Any] = json.loads(unescape(found.group(1)))
    return told
