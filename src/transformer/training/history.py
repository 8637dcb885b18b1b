"""What a run records: one row for every `log_every` updates and for every validation."""

import csv
import io
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from transformer.files import write_atomically


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row of the log. The loss is the mean per target token since the row before, in nats."""

    update: int
    epoch: int
    loss: float
    rate: float
    gradient_norm: float
    tokens: int
    tokens_per_second: float
    seconds: float
    valid_perplexity: float | None = None


@dataclass
class History:
    """All rows of a run, and the number of the signal that interrupted it, if one did."""

    records: list[Record] = field(default_factory=list)
    interrupted_by: int | None = None

    @property
    def perplexities(self) -> list[tuple[int, float]]:
        """Updates at which the model was validated, with the unsmoothed perplexity."""
        return [
            (record.update, record.valid_perplexity)
            for record in self.records
            if record.valid_perplexity is not None
        ]

    @property
    def validations_since_best(self) -> int:
        """Validations after the one with the lowest perplexity; 0 where it is the last, or none."""
        values = [value for _, value in self.perplexities]
        return len(values) - 1 - values.index(min(values)) if values else 0

    def write(self, path: Path) -> None:
        """Write the rows as CSV; a perplexity that was not measured is an empty cell."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(record) for record in self.records)
        write_atomically(path, text.getvalue().encode())

    @classmethod
    def read(cls, path: Path, *, up_to: int) -> "History":
        """Read the rows of the updates 1 … `up_to`; no file means no rows.

        Raises:
            ValueError: naming file and row, for a row that `write` cannot have written.
        """
        if not path.exists():
            return cls()
        rows: list[Record] = []
        try:
            with path.open(encoding="utf-8") as file:
                reader = csv.DictReader(file)
                if reader.fieldnames != COLUMNS:
                    raise ValueError(f"the columns must be {','.join(COLUMNS)}")
                rows.extend(_record(row) for row in reader)
        except (ValueError, TypeError, KeyError, csv.Error) as error:
            raise ValueError(f"{path} is damaged, after {len(rows)} rows: {error}") from None
        return cls([row for row in rows if row.update <= up_to])


COLUMNS = [column.name for column in fields(Record)]


def _record(row: dict[str, str]) -> Record:
    whole = {name: int(row[name]) for name in ("update", "epoch", "tokens")}
    real = {
        name: float(row[name])
        for name in ("loss", "rate", "gradient_norm", "tokens_per_second", "seconds")
    }
    perplexity = float(row["valid_perplexity"]) if row["valid_perplexity"] else None
    return Record(**whole, **real, valid_perplexity=perplexity)  # type: ignore[arg-type]
