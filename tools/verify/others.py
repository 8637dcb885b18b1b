# ruff: noqa: E501
"""Run the doctor on public implementations, at commits that are named, and compare with the truth.

    python -m tools.verify.others FOLDER [NAME …]      clones that are there: FOLDER/owner+name
    python -m tools.verify.others FOLDER --clone       clone with git what is missing
    python -m tools.verify.others FOLDER [NAME …] --record results/public-implementations.json

Their code is executed, each repository in a process of its own, from a temporary copy of its files;
none of it is kept. What stands here is how each model is built small and called. Outside CI.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

SIZES = {"d_model": 32, "dropout": 0.1}


@dataclass(frozen=True)
class Other:
    """One repository: what to load, how to build and call the model, and the bugs that it has.

    `build` gets a function that loads a file, and returns the model and the rest for `examine`.
    `bugs` were found by reading and reproduced; `unseen` are known and invisible from outside.
    """

    repository: str
    commit: str
    files: tuple[str, ...]
    build: Callable[..., tuple[Any, dict[str, Any]]]
    bugs: tuple[str, ...] = ()


def _hyunwoongko(load):
    transformer = load("models/model/transformer.py").Transformer
    return transformer(0, 0, 1, 60, 60, 32, 4, 64, 64, 2, 0.1, "cpu"), {}


def _jadore801120(load):
    sizes = {"d_word_vec": 32, "d_model": 32, "d_inner": 64, "n_layers": 2, "n_head": 4}
    made = load("transformer/Models.py").Transformer(60, 60, 0, 0, **sizes, d_k=8, d_v=8)
    return made, {}


def _samlynnevans(load):
    return load("Models.py").Transformer(60, 60, 32, 2, 4, 0.1), {}


def _gordicaleksa(load):
    made = load("models/definitions/transformer_model.py").Transformer
    return made(32, 60, 60, 4, 2, 0.1), {}


def _hkproj(load):
    build = load("model.py").build_transformer
    m = build(60, 60, 64, 64, d_model=32, N=2, h=4, dropout=0.1, d_ff=64)

    def call(s, t):
        closed, past = (s != 0)[:, None, None], (t != 0)[:, None, None] & _past(t)
        return m.project(m.decode(m.encode(s, closed), closed, t, past))

    return m, {"call": call}


def _past(t):
    import torch

    return torch.ones(t.shape[1], t.shape[1], dtype=torch.bool).tril()


def _simonjisu(load):
    positions = load("transformer/utils.py").get_pos
    m = load("transformer/models.py").Transformer(60, 64, 60, 64, 2, 4, 32, 8, 8, 64, pad_idx=0)
    return m, {"call": lambda s, t: m(s, positions(s, pad_idx=0), t, positions(t, pad_idx=0))}


def _arxyzan(load):
    return load("model.py").Transformer(60, 60, 0, 0, 32, 2, 4, 64, 64, 0.1, "cpu"), {}


def _devjwsong(load):
    sizes = load("src/constants.py")
    sizes.num_heads, sizes.num_layers, sizes.d_model, sizes.d_ff, sizes.d_k = 4, 2, 32, 64, 8
    sizes.seq_len = 10
    m = load("src/transformer.py").Transformer(60, 60)
    masks = lambda s, t: ((s != 0)[:, None], (t != 0)[:, None] & _past(t))  # noqa: E731
    return m, {"call": lambda s, t: m(s, t, *masks(s, t))}


def _dreamgonfly(load):
    module = load("models.py")
    later = module.subsequent_masking
    module.subsequent_masking = lambda x: later(x).bool()  # today's torch takes no bytes
    sizes = {"d_model": 32, "layers_count": 2, "heads_count": 4, "d_ff": 64, "dropout_prob": 0.1}
    return module.build_model(sizes | {"positional_encoding": True}, 60, 60), {}


def _tunz(load):
    module = load("utils/utils.py")  # today's torch takes no masks of bytes
    for name in ("create_pad_mask", "create_trg_self_mask"):
        made = getattr(module, name)
        setattr(module, name, lambda *given, made=made, **how: made(*given, **how).bool())
    sys.modules["utils.utils"] = sys.modules["utils"] = module
    module.utils = module
    made = load("model/transformer.py").Transformer
    m = made(60, 60, n_layers=2, hidden_size=32, filter_size=64, src_pad_idx=0, trg_pad_idx=0)
    return m, {}


def _ajhalthor(load):
    import torch

    words = {f"w{i}": i for i in range(60)}
    m = load("transformer.py").Transformer(
        32, 64, 4, 0.1, 2, 10, 60, words, words, "w1", "w2", "w0"
    )
    for side in (m.encoder, m.decoder):  # ids in place of sentences
        side.sentence_embedding.batch_tokenize = lambda ids, *_: ids

    def call(s, t):
        # their masks, as the trainer's notebook makes them: additive, from one place behind the
        # last character on
        def hidden(ids):
            n = (ids != 0).sum(1, keepdim=True)
            return torch.arange(ids.shape[1])[None] > n

        later = ~_past(t)
        inside = hidden(s)[:, :, None] | hidden(s)[:, None]
        back = later | hidden(t)[:, :, None] | hidden(t)[:, None]
        across = hidden(t)[:, :, None] | hidden(s)[:, None]
        return m(s, t, *(torch.where(x, -1e9, 0.0) for x in (inside, back, across)))

    return m, {"call": call}


def _jinistic(load):
    made = load("transformer_from_scratch.py").Transformer
    sizes = {"embed_size": 32, "num_layers": 2, "forward_expansion": 2, "heads": 4}
    return made(60, 60, 0, 0, **sizes, dropout=0.1, device="cpu", max_length=64), {}


def _sgrvinod(load):
    table = load("utils.py").get_positional_encoding(32, 64)
    made = load("model.py").Transformer
    return made(60, table, 32, 4, 8, 8, 64, 2, 0.1), {}


def _graykode(load):
    module = load("5-1.Transformer/Transformer.py")
    for name in ("src_vocab_size", "tgt_vocab_size"):
        setattr(module, name, 60)
    module.src_len = module.tgt_len = 5
    module.d_model, module.d_ff, module.d_k, module.d_v = 32, 64, 8, 8
    module.n_layers, module.n_heads = 2, 4
    return module.Transformer(), {}


def _harvardnlp(load):
    made = load("the_annotated_transformer.py").make_model
    return made(60, 60, N=2, d_model=32, d_ff=64, h=4), {}


def _bentrevett(load):
    import torch

    module = load("legacy/6 - Attention is All You Need.ipynb")
    device = torch.device("cpu")
    encoder = module.Encoder(60, 32, 2, 4, 64, 0.1, device)
    decoder = module.Decoder(60, 32, 2, 4, 64, 0.1, device)
    return module.Seq2Seq(encoder, decoder, 0, 0, device), {}


def _daydream(load):
    module = load("translation_transformer.py")
    module.PAD_IDX = 0
    m = module.Seq2SeqTransfomer(2, 2, 32, 4, 60, 60, 64)

    def call(s, t):
        source, target, closed, closed_target = module.create_mask(s.T, t.T)
        return m(s.T, t.T, source, target, closed, closed_target, closed).transpose(0, 1)

    return m, {"call": call}


def _on_cpu():
    import torch

    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_, **__: self  # written in


def _stub(name, **has):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(has)


def _bkhanal(load):
    m = load("torch/transformer.py").Transformer(2, 2, 32, 4, 64, 60, 60, 64)
    return m, {"call": lambda s, t: m(s, t)[0]}  # without masks, as its notebook trains it


def _brandokoch(load):
    made = load("src/architectures/machine_translation_transformer.py")
    return made.MachineTranslationTransformer(32, 2, 60, 60, 4, 64, 0.1), {}


def _d2l(load):
    # the decoder stands in the chapter's text only
    d2l = load("d2l/torch.py")
    d2l.zeros, d2l.arange = d2l.torch.zeros, d2l.torch.arange
    text = Path(sys.argv[1], CHAPTER).read_text(encoding="utf-8")
    for block in re.findall(r"%%tab pytorch\n(class Transformer.*?)```", text, re.DOTALL):
        exec(block, vars(d2l) | {"d2l": d2l}, (classes := {}))
        vars(d2l).update(classes)
    sizes = {"num_hiddens": 32, "ffn_num_hiddens": 64, "num_heads": 4, "num_blks": 2}
    encoder, decoder = (
        made(60, **sizes, dropout=0.1) for made in (d2l.TransformerEncoder, d2l.TransformerDecoder)
    )
    m = d2l.Seq2Seq(encoder, decoder, tgt_pad=0, lr=0.001)
    ids = d2l.torch.full((2, 6), 5)
    m(ids, ids, (ids != 0).sum(1))  # its layers find out their sizes
    return m, {"call": lambda s, t: m(s, t, (s != 0).sum(1))}


def _hemingkx(load):
    _stub("config", device="cpu")
    _stub("data_loader", subsequent_mask=None)
    return load("model.py").make_model(60, 60, N=2, d_model=32, d_ff=64, h=4), {}


def _labml(load):
    from copy import deepcopy

    _stub("labml", tracker=types.SimpleNamespace(debug=lambda *_: None))
    made = load("labml_nn/transformers/models.py")
    layers = [
        made.TransformerLayer(
            d_model=32,
            self_attn=made.MultiHeadAttention(4, 32),
            src_attn=across,
            feed_forward=made.FeedForward(32, 64),
            dropout_prob=0.1,
        )
        for across in (None, made.MultiHeadAttention(4, 32))
    ]
    embed = made.EmbeddingsWithPositionalEncoding(32, 60)
    stacks = made.Encoder(layers[0], 2), made.Decoder(layers[1], 2)
    m = made.EncoderDecoder(*stacks, embed, deepcopy(embed), made.Generator(60, 32))

    def call(s, t):  # length first; masks are (query, key, batch)
        closed, past = (s != 0).T[None], _past(t)[:, :, None] & (t != 0).T[None]
        return m.generator(m(s.T, t.T, closed, past)).transpose(0, 1)

    return m, {"call": call}


def _leviswind(load):
    import torch.nn.functional as F

    _on_cpu()
    sizes = load("hyperparams.py").Hyperparams
    sizes.hidden_units, sizes.num_blocks, sizes.num_heads, sizes.maxlen = 32, 2, 4, 64
    module = load("AttModel.py")
    embed = types.SimpleNamespace(apply=lambda ids, table, *_: F.embedding(ids, table))
    for one in (module.embedding, module.positional_encoding):
        one._backend = types.SimpleNamespace(Embedding=embed)  # gone from today's torch
    m = module.AttModel(sizes, 60, 60)
    return m, {"call": lambda s, t: (m(s, t), m.logits)[1]}


def _wmathor(load):
    _on_cpu()
    module = load("5-1.Transformer/Transformer_Torch.py")
    module.src_vocab_size = module.tgt_vocab_size = 60
    module.d_model, module.d_ff, module.d_k, module.d_v = 32, 64, 8, 8
    module.n_layers, module.n_heads = 2, 4
    return module.Transformer(), {}


CHAPTER = "chapter_attention-mechanisms-and-transformers/transformer.md"
LABML = tuple(
    f"labml_nn/{name}.py"
    for name in (
        "transformers/models",
        "transformers/mha",
        "transformers/feed_forward",
        "transformers/positional_encoding",
        "utils/__init__",
    )
)
OTHERS = [  # one a line
    Other("ajhalthor/Transformer-Neural-Network", "9ad642b1", ("transformer.py",), _ajhalthor, ("padding",)),
    Other("arxyzan/vanilla-transformer", "1b36a968", ("model.py",), _arxyzan, ("one layer",)),
    Other("bentrevett/pytorch-seq2seq", "b3cd54c7", ("legacy",), _bentrevett),
    Other("bkhanal-11/transformers", "03821af4", ("torch",), _bkhanal, ("future", "padding")),
    Other("brandokoch/attention-is-all-you-need-paper", "0ff17617", ("src/architectures",), _brandokoch),
    Other("d2l-ai/d2l-en", "23d7a5ae", ("d2l/torch.py", CHAPTER), _d2l, ("future",)),
    Other("Daydream0929/transformer", "39e94329", ("translation_transformer.py",), _daydream),
    Other("devjwsong/transformer-translator-pytorch", "1e95679d", ("src",), _devjwsong, ("positions",)),
    Other("dreamgonfly/transformer-pytorch", "c31e163e", ("models.py", "embeddings.py", "utils"), _dreamgonfly, ("first loss",)),
    Other("gordicaleksa/pytorch-original-transformer", "d5b29a41", ("models", "utils"), _gordicaleksa),
    Other("graykode/nlp-tutorial", "d05e31ec", ("5-1.Transformer",), _graykode, ("positions",)),
    Other("harvardnlp/annotated-transformer", "debc9fd7", ("the_annotated_transformer.py",), _harvardnlp),
    Other("hemingkx/ChineseNMT", "1af1034f", ("model.py",), _hemingkx),
    Other("hkproj/pytorch-transformer", "3beddd26", ("model.py",), _hkproj),
    Other("hyunwoongko/transformer", "63286547", ("models",), _hyunwoongko),
    Other("jadore801120/attention-is-all-you-need-pytorch", "132907dd", ("transformer",), _jadore801120),
    Other("jinistic/transformers-from-scratch", "a3477cec", ("transformer_from_scratch.py",), _jinistic, ("heads",)),
    Other("labmlai/annotated_deep_learning_paper_implementations", "e6b3c8a6", LABML, _labml),
    Other("leviswind/pytorch-transformer", "9aaf4cd5", ("AttModel.py", "modules.py", "hyperparams.py"), _leviswind, ("padding",)),
    Other("SamLynnEvans/Transformer", "49e01800", ("Models.py", "Layers.py", "Embed.py", "Sublayers.py"), _samlynnevans, ("positions",)),
    Other("sgrvinod/a-PyTorch-Tutorial-to-Transformers", "3e09136c", ("model.py", "utils.py"), _sgrvinod),
    Other("simonjisu/annotated-transformer-kr", "9c1e4988", ("transformer",), _simonjisu, ("first loss", "no gradient")),
    Other("tunz/transformer-pytorch", "e7266679", ("model", "utils"), _tunz),
    Other("wmathor/nlp-tutorial", "a4511086", ("5-1.Transformer",), _wmathor),
]  # fmt: skip


def main(arguments: list[str]) -> int:
    """Print a row for each repository; the exit status is 1 where a bug is missed or made up."""
    parser = argparse.ArgumentParser("python -m tools.verify.others", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--clone", action="store_true")
    parser.add_argument("--report", action="store_true", help="print whole reports")
    parser.add_argument("--record", type=Path, help="write what was seen, of all or of those named")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.inside:
        return _examine(given.inside, given.folder)
    wrong, rows = 0, []
    print("| repository | bugs seen | as known | departures | not examined | CPU s |")
    print("|---|---|---|---|---|---|")
    for other in OTHERS:
        if given.names and not any(name in other.repository for name in given.names):
            continue
        told = _told(other, given.folder, clone=given.clone)
        named = {
            to: list(dict.fromkeys(one["name"] for one in told[to]))
            for to in ("bugs", "departures", "same", "not_examined")
        }
        bugs, departures, _, rest = named.values()
        rows.append({"repository": other.repository, "commit": other.commit} | named)
        agrees = set(bugs) == set(other.bugs) and "error" not in told
        wrong += not agrees
        cells = [
            ", ".join(bugs) or told.get("error", "–"),
            "yes" if agrees else f"no: {other.bugs}",
        ]
        cells += [", ".join(departures), ", ".join(rest), f"{told.get('seconds', 0):.2f}"]
        print(f"| {other.repository} @ {other.commit} | {' | '.join(cells)} |", flush=True)
        if given.report:
            print(json.dumps(told, indent=1, ensure_ascii=False))
    if given.record and not wrong:
        known = json.loads(given.record.read_text("utf-8"))["rows"] if given.names else []
        new = {row["repository"] for row in rows}
        rows = sorted(
            [*rows, *(row for row in known if row["repository"] not in new)],
            key=lambda row: row["repository"].lower(),
        )
        record = {"date": time.strftime("%Y-%m-%d"), "torch": version("torch"), "rows": rows}
        given.record.write_text(json.dumps(record, indent=1, ensure_ascii=False), "utf-8")
    return int(wrong > 0)


def _told(other: Other, folder: Path, *, clone: bool) -> dict[str, Any]:
    """Return the report on one repository, examined in a process of its own."""
    nothing: dict[str, Any] = {"bugs": [], "departures": [], "same": [], "not_examined": []}
    places = [folder / other.repository.replace("/", "+"), folder / other.repository.split("/")[1]]
    gits = [
        p
        for place in places
        for p in (place / ".git", place / "repo" / ".git", place / "repo", place)
    ]
    git = next((p for p in gits if (p / "objects").is_dir()), None)
    if git is None and clone:
        url = f"https://github.com/{other.repository}"
        subprocess.run(["git", "clone", "-q", "--bare", url, str(places[0])], check=True)
        git = places[0]
    if git is None:
        return nothing | {"error": f"no clone at {places[0]}"}
    with tempfile.TemporaryDirectory() as copy:
        for path in other.files:
            pack = ["git", f"--git-dir={git}", "archive", other.commit, path]
            archive = subprocess.run(pack, capture_output=True, check=True).stdout
            subprocess.run(["tar", "x", "-C", copy], input=archive, check=True)
        command = [sys.executable, "-m", "tools.verify.others", copy, "--inside", other.repository]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    start = done.stdout.find("{\n")
    if start < 0:
        return nothing | {"error": done.stderr.strip()[-1500:]}
    told: dict[str, Any] = json.loads(done.stdout[start:])
    return told


def _examine(repository: str, copy: Path) -> int:
    """Build one model from the copy of its files, examine it, and print the report as JSON."""
    import torch

    from walkthrough.doctor import examine
    from walkthrough.doctor.loading import definitions

    torch.set_num_threads(1)
    torch.manual_seed(0)
    other = next(one for one in OTHERS if one.repository == repository)
    model, how = other.build(lambda path: definitions(copy / path)[0])
    begun = time.process_time()
    report = examine(model, **how)
    told = json.loads(report.to_json()) | {"seconds": time.process_time() - begun}
    print(json.dumps(told, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
