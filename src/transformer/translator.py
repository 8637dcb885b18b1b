"""A trained model in use: text in, text out. The command `translate` is this class too."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from transformer.data.codec import TextCodec, codec_from_text
from transformer.inference.translate import (
    Decoding,
    Refused,
    Search,
    Translation,
    check_vocabulary,
    translate,
    translate_stream,
)
from transformer.model import Transformer
from transformer.published import is_published, read_published
from transformer.training.checkpoint import Checkpoint, average_checkpoints, load_checkpoint
from transformer.training.run_folder import BEST, checkpoints_of


class Translator:
    """A model with its tokenizer; `search` is another engine's, `transformer.engines` has one."""

    def __init__(
        self, model: Transformer, codec: TextCodec, *, search: Search | None = None
    ) -> None:
        self.model, self.codec, self.search = model, codec, search

    @classmethod
    def load(
        cls, path: str | Path, *, average: int = 1, best: bool = False, device: str = "cpu"
    ) -> "Translator":
        """Open a checkpoint file, or of a run folder the mean of its `average` newest ones.

        `best` takes the run's best checkpoint on its validation split instead. A folder of a
        published model (OPUS-MT, or what `export --format marian` wrote) is read as it is.

        Raises:
            ValueError: the checkpoint is damaged, or holds no tokenizer, or one of another size; a
                file or a published model does not go with `average` or `best`, nor one of these
                with the other; or see `transformer.published.read_published`.
            FileNotFoundError: no such file, or the run has fewer checkpoints.
        """
        path = Path(path)
        published = is_published(path)
        if (published or path.is_file()) and (best or average > 1):
            option = "best" if best else f"average={average}"
            what = "a published model" if published else "a file"
            raise ValueError(f"{option} needs a run folder, {path} is {what}")
        if best and average > 1:
            raise ValueError(f"best is one checkpoint: it does not go with average={average}")
        if published:
            checkpoint = read_published(path)
        elif best:
            checkpoint = load_checkpoint(path / BEST)
        elif path.is_dir():
            checkpoint = average_checkpoints(run_checkpoints(path, average))
        else:
            checkpoint = load_checkpoint(path)
        codec = start_codec(checkpoint, str(path))
        model = checkpoint.model().to(device)
        check_vocabulary(model, codec)
        return cls(model, codec)

    @overload
    def translate(self, text: str, **options: Any) -> str: ...

    @overload
    def translate(self, text: Sequence[str], **options: Any) -> list[str]: ...

    def translate(self, text: str | Sequence[str], **options: Any) -> str | list[str]:
        """Return the best translation of a sentence, or of each of many, in their order.

        Options are those of `Decoding`: `beam=1` is greedy, `alpha` is the length penalty.

        Raises:
            TypeError: something else than text.
            ValueError, FloatingPointError: see `transformer.inference.translate`.
        """
        lines = [text] if isinstance(text, str) else text
        best = [hypotheses[0].text for hypotheses in self.n_best(lines, **options)]
        return best[0] if isinstance(text, str) else best

    def n_best(self, lines: Sequence[str], **options: Any) -> list[list[Translation]]:
        """Return the `n_best` best translations of each line, with their scores."""
        texts = list(_texts(lines))
        return translate(self.model, self.codec, texts, Decoding(**options), search=self.search)

    def stream(
        self,
        lines: Iterable[str],
        decoding: Decoding | None = None,
        *,
        window: int = 500,
        refused: Refused | None = None,
    ) -> Iterator[list[Translation]]:
        """Translate as the lines come, in flat memory; see `translate_stream`."""
        return translate_stream(
            self.model,
            self.codec,
            _texts(lines),
            decoding,
            window=window,
            refused=refused,
            search=self.search,
        )


def _texts(lines: Iterable[object]) -> Iterator[str]:
    """Yield the lines; a missing value of a table, bytes, or a list of words is named."""
    if isinstance(lines, bytes):
        raise TypeError(f"lines must be text, got the bytes {lines[:40]!r}")
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise TypeError(f"lines must be text, line {number} is {line!r}")
        yield line


def run_checkpoints(folder: Path, last: int) -> list[Path]:
    """Return the newest checkpoints of a run folder, oldest first.

    Raises:
        ValueError: last below 1.
        FileNotFoundError: the run has fewer.
    """
    if last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    paths = checkpoints_of(folder)
    if len(paths) < last:
        raise FileNotFoundError(f"{folder} has {len(paths)} checkpoints, {last} are needed")
    return paths[-last:]


def start_codec(start: Checkpoint, path: str) -> TextCodec:
    """Return the tokenizer of a checkpoint.

    Raises:
        ValueError: it holds none, or a damaged one.
    """
    if start.tokenizer is None:
        raise ValueError(f"{path} holds no tokenizer")
    try:
        return codec_from_text(start.tokenizer)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
