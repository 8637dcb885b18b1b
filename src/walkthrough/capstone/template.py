"""`new`: the skeleton, written where the reader wants it."""

from pathlib import Path

from walkthrough.doctor.report import SITE

SKELETON = Path(__file__).with_name("skeleton.py")


def new(file: str | Path = "my_transformer.py") -> Path:
    """Write the skeleton of ten stubs; never over a file that is there.

    Raises:
        FileExistsError: there is such a file already.
        FileNotFoundError: its folder is not there.
    """
    path = Path(file)
    text = SKELETON.read_text(encoding="utf-8").replace("{site}", f"{SITE}book/")
    text = text.replace("  # noqa: F401", "")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} is not there")
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise FileExistsError(f"{path} is there already, and is left as it is") from None
    return path
