"""Lines of text through `translate_stream`, against HuggingFace's Marian with the same weights.

Marian is the paper's model as people use it: its `generate` gets the same ids in the same batches,
longest together, and both results become text. The model is the half-trained one of the book, the
lines are sentences of the phrasebook it has not seen, α is 0 (their penalty is another formula).
That both give the same lines is asserted. Needs `pip install transformers`, as nothing else does.

    python benchmarks/translate_stream.py [--lines 1000] [--threads 1] [--rounds 3]
    python benchmarks/translate_stream.py --lines 100000 --alone   # memory of the stream alone
"""

import argparse
import resource
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from peers import clock_for, compare, print_table

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.codec import TextCodec, codec_from_text
from transformer.data.corpus import Corpus
from transformer.inference.translate import Decoding, translate_stream
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding
from transformer.training.checkpoint import load_checkpoint

MODEL = Path(__file__).parent.parent / "results" / "phrasebook-half-trained.safetensors"
MAX_LEN = 60  # of a translation; the limits of §6.1 are counted otherwise by each
NAMES = {  # ours → theirs
    "query_proj": "q_proj",
    "key_proj": "k_proj",
    "value_proj": "v_proj",
    "output_proj": "out_proj",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "feed_forward.expand": "fc1",
    "feed_forward.contract": "fc2",
}
NORMS = {
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
}


def marian(ours: Transformer) -> Any:
    """Return a Marian with our weights and our positions."""
    from transformers import MarianConfig, MarianMTModel

    config = ours.config
    sizes = {
        f"{side}_{theirs}": getattr(config, name)
        for side in ("encoder", "decoder")
        for theirs, name in (
            ("layers", "n_layers"),
            ("attention_heads", "n_heads"),
            ("ffn_dim", "d_ff"),
        )
    }
    model = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            **sizes,
            activation_function="relu",
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            max_position_embeddings=1024,
            pad_token_id=PAD_ID,
            bos_token_id=BOS_ID,
            eos_token_id=EOS_ID,
            decoder_start_token_id=BOS_ID,
            forced_eos_token_id=None,
        )
    ).eval()
    weights = {}
    for name, value in ours.state_dict().items():
        if ".layers." in name:
            weights[f"model.{their_name(name)}"] = value
    table = sinusoidal_encoding(1024, config.d_model)
    for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        weights[f"model.{name}.weight"] = ours.output_weight
    for side in NORMS:
        weights[f"model.{side}.embed_positions.weight"] = table
    weights["lm_head.weight"] = ours.output_weight
    weights["final_logits_bias"] = torch.zeros(1, config.vocab_size)
    model.load_state_dict(weights)
    return model


def their_name(name: str) -> str:
    """Return Marian's name of one of our parameters."""
    for number, norm in enumerate(NORMS[name.partition(".")[0]]):
        name = name.replace(f"residuals.{number}.layer_norm", norm)
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name


@torch.no_grad()
def generate(peer: Any, codec: TextCodec, lines: list[str], beam: int, batch: int) -> list[str]:
    """Translate with Marian's own search."""
    sources = [torch.tensor([*codec.encode(line), EOS_ID]) for line in lines]
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    found = [""] * len(lines)
    for start in range(0, len(order), batch):
        indices = order[start : start + batch]
        rows = [sources[index] for index in indices]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
        output = peer.generate(
            input_ids=source,
            attention_mask=(source != PAD_ID).long(),
            num_beams=beam,
            do_sample=False,
            **({"length_penalty": 0.0, "early_stopping": True} if beam > 1 else {}),
            max_new_tokens=MAX_LEN - 1,  # ours counts the end token
            bad_words_ids=[[PAD_ID], [BOS_ID]],
        )
        for index, ids in zip(indices, output.tolist(), strict=True):
            found[index] = codec.decode([i for i in ids if i not in (PAD_ID, BOS_ID, EOS_ID)])
    return found


def lines_of(model_lines: tuple[str, ...], number: int) -> Iterator[str]:
    """Repeat the sentences until there are as many as asked for."""
    return islice(cycle(model_lines), number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--alone", action="store_true", help="no peer: memory as lines go through")
    args = parser.parse_args()
    if not args.alone and find_spec("transformers") is None:
        parser.error("the peer is not installed: pip install transformers, or use --alone")
    torch.set_num_threads(args.threads)
    checkpoint = load_checkpoint(MODEL)
    model, codec = checkpoint.model(), codec_from_text(checkpoint.tokenizer or "")
    sentences = Corpus.from_phrasebook("test_sentences").source
    if args.alone:
        alone(model, codec, sentences, args.lines)
        return
    peer = marian(model)
    lines = list(lines_of(sentences, args.lines))
    for beam in (1, 4):
        decoding = Decoding(beam=beam, alpha=0.0, max_len=MAX_LEN)

        def ours(decoding: Decoding = decoding) -> list[str]:
            return [best[0].text for best in translate_stream(model, codec, lines, decoding)]

        def theirs(beam: int = beam) -> list[str]:
            return generate(peer, codec, lines, beam, Decoding().batch_sentences)

        assert ours() == theirs(), "both must give the same lines"
        seconds = compare(
            {"this package": ours, "Marian": theirs},
            rounds=args.rounds,
            clock=clock_for(args.threads),
        )
        print(f"{args.lines} lines, beam {beam}, {args.threads} thread(s)")
        print_table(seconds, "all lines")
        us, them = seconds.values()
        print(f"{args.lines / us:.0f} sentences a second, Marian {args.lines / them:.0f}")
        print(f"ratio Marian / ours, beam {beam}: {them / us:.2f}")


def alone(model: Transformer, codec: TextCodec, sentences: tuple[str, ...], number: int) -> None:
    """Print the most memory held so far, ten times along the way."""
    found = translate_stream(model, codec, lines_of(sentences, number), Decoding(beam=1))
    unit = 2**20 if sys.platform == "darwin" else 2**10
    for count, _ in enumerate(found, start=1):
        if count % max(1, number // 10) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
            print(f"{count} lines: at most {peak:.0f} MB so far")


if __name__ == "__main__":
    main()
