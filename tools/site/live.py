"""Put the translator of chapter 21 into book/web/vendor/live, as scripts that a click loads.

    python -m tools.site.live

Twenty seconds: four graphs are exported from the weights under results/, and packed with
onnxruntime's WebAssembly. The Makefile runs it when one of its sources has changed.
"""

from tools.site.vendor import VENDOR, WEB

from walkthrough.ch21_translate_in_your_browser.bundle import write_bundle
from walkthrough.ch21_translate_in_your_browser.translator import load_translator

FOLDER = VENDOR / "live"
ONNXRUNTIME = WEB / "node_modules" / "onnxruntime-web" / "dist"
RUNTIME = {
    "runtime.wasm": ONNXRUNTIME / "ort-wasm-simd-threaded.wasm",
    "runtime.mjs": ONNXRUNTIME / "ort-wasm-simd-threaded.mjs",
}


def main() -> None:
    """Export, pack, and say how much a click loads."""
    model, codec = load_translator()
    others = [VENDOR / "onnxruntime-web" / "ort.wasm.min.js", *sorted(WEB.glob("live/*.js"))]
    sizes = write_bundle(model, codec, FOLDER, runtime=RUNTIME, others=others)
    total = sum(sizes.values()) + sum(path.stat().st_size for path in others)
    print(f"{FOLDER}: {total / 1e6:.2f} MB in {len(sizes) + len(others)} scripts")


if __name__ == "__main__":
    main()
