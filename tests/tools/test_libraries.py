"""The page on other libraries says what its record says, and shows the code that was measured."""

import ast
from importlib import import_module
from importlib.util import find_spec

import pytest
import torch
from tools.book import libraries as book
from tools.verify.libraries import probe
from tools.verify.libraries.__main__ import HERE, read_list, read_record
from tools.verify.libraries.adapters import pytorch

from transformer.positional import sinusoidal_encoding

LIBRARIES = {library.name: library for library in read_list()}
RECORD = read_record()


def test_the_page_is_made_from_the_record():
    assert book.PAGE.read_text(encoding="utf-8") == book.page(read_list(), RECORD), (
        "run `python -m tools.book.libraries`"
    )


def test_every_library_has_a_row_of_its_pinned_version():
    assert list(RECORD["rows"]) == list(LIBRARIES)
    for name, library in LIBRARIES.items():
        if library.pins:
            assert f"=={RECORD['rows'][name]['version']}" in library.pins[-1], name
        if library.adapter:
            assert (HERE / "adapters" / f"{library.adapter}.py").is_file(), name


@pytest.mark.parametrize("name", book.SHOWN)
def test_code_that_carries_over_is_short_and_whole(name: str):
    text = book.shown(LIBRARIES[name])
    *_, carry = ast.parse(text).body
    assert isinstance(carry, ast.FunctionDef)
    assert len(ast.get_source_segment(text, carry).splitlines()) <= 18
    assert max(map(len, text.splitlines())) <= 100
    bound = {n.asname or n.name for m in ast.walk(ast.parse(text)) for n in getattr(m, "names", [])}
    assert bound  # its imports come with it
    row = RECORD["rows"][name]
    assert row["carries"] != "no"
    assert max(row["carried"].values()) < 1e-4


@torch.no_grad()
def test_torch_computes_the_papers_model_with_our_weights():
    ours = probe.paper_model()
    theirs = pytorch.carry(ours)
    theirs.encoder.use_nested_tensor = False
    assert max(probe.difference(ours, *pytorch.call(ours, theirs)).values()) < 2e-5
    row = RECORD["rows"]["torch"]
    assert max(row["carried"].values()) < 2e-5
    assert min(row["default"].values()) > 0.1


@torch.no_grad()
def test_keras_hub_is_a_second_witness():
    """Its layers compute the paper's model by default, and whoever wrote them had not seen ours."""
    if find_spec("keras_hub") is None:
        pins = " ".join(LIBRARIES["keras-hub"].pins)
        pytest.skip(f"keras-hub brings TensorFlow along: pip install {pins}")
    adapter = import_module("tools.verify.libraries.adapters.keras_hub")
    ours = probe.paper_model()
    theirs = adapter.carry(ours)
    assert max(probe.difference(ours, *adapter.call(ours, theirs)).values()) < 2e-5
    ours.decoder.layers[1].cross_attention.key_proj.weight[3, 5] += 1  # any slip of ours shows
    assert probe.difference(ours, *adapter.call(ours, theirs))["logits"] > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("last", ["none", "yes"])
def test_an_arrangement_of_norms_is_told_by_its_outputs(norm: str, last: str):
    ours = probe.paper_model()
    other = ours
    for side in ("encoder", "decoder"):
        other = probe._arranged(other, side, norm, last)
    memory = other.encode(probe.SOURCE)
    found = probe.norms_like(ours, memory, other(probe.SOURCE, probe.TARGET))
    assert found == {"norm": norm, "last_norm": last}
    with pytest.raises(LookupError, match="encoder is neither"):
        probe.norms_like(ours, memory + 1, None)


def test_a_table_of_positions_is_told_by_its_numbers():
    pairs = sinusoidal_encoding(9, 32, start=2)
    assert probe.positions_like(pairs) == "interleaved, the paper's; the first position is 2"
    halves = torch.cat([pairs[:, 0::2], pairs[:, 1::2]], dim=1)
    assert probe.positions_like(halves).startswith("halves: the paper's numbers")
    assert probe.positions_like(halves + 0.01) == "none of the known layouts"


def test_what_true_means_is_tried():
    def attend(keys: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return (keys * mask[..., None]).sum(1, keepdim=True)

    assert probe.true_like(attend) == "may attend"
    assert probe.true_like(lambda keys, mask: attend(keys, ~mask)) == "closed"
    with pytest.raises(LookupError, match="True and False"):
        probe.true_like(lambda keys, mask: attend(keys, mask | True))


def test_an_activation_is_told_by_its_value():
    assert probe.activation_like(torch.relu) == "ReLU"
    assert probe.activation_like(torch.nn.functional.gelu) == "GELU"
    assert probe.activation_like(torch.tanh) == "unknown: −1 becomes -0.7616"


@pytest.mark.parametrize(
    "path", sorted((HERE / "adapters").glob("[a-z]*.py")), ids=lambda path: path.stem
)
def test_what_an_adapter_takes_from_the_package_is_there(path):
    """Their libraries are not installed here, so nothing else would notice a name that moved."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformer."):
            module = import_module(node.module)
            assert all(hasattr(module, name.name) for name in node.names)
