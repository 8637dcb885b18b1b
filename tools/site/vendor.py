"""Copy the browser files that pages load out of node_modules into book/web/vendor, unmodified."""

import shutil
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "book" / "web"
MODULES = WEB / "node_modules"
VENDOR = WEB / "vendor"

# What the site serves → where npm put it. Licences travel with their code.
FILES = {
    "minisearch/minisearch.js": "minisearch/dist/umd/index.js",
    "minisearch/LICENSE": "minisearch/LICENSE.txt",
    "vega/vega.min.js": "vega/build/vega.min.js",
    "vega/LICENSE": "vega/LICENSE",
    "vega-lite/vega-lite.min.js": "vega-lite/build/vega-lite.min.js",
    "vega-lite/LICENSE": "vega-lite/LICENSE",
    "vega-embed/vega-embed.min.js": "vega-embed/build/vega-embed.min.js",
    "vega-embed/LICENSE": "vega-embed/LICENSE",
    "onnxruntime-web/ort.wasm.min.js": "onnxruntime-web/dist/ort.wasm.min.js",
    "onnxruntime-web/README.md": "onnxruntime-web/README.md",
}


def main() -> None:
    """Make the vendor folder anew."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    for name, origin in FILES.items():
        target, source = VENDOR / name, MODULES / origin
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


if __name__ == "__main__":
    main()
