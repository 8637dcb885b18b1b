"""Multi30k: 29 000 image captions with their professional translations, fetched at run time.

Source: Elliott, Frank, Sima'an, Specia (2016), https://github.com/multi30k/dataset, task 1. The
texts are for non-commercial research and education and are not ours to pass on: they are
downloaded into the user's cache folder from one pinned commit, and checked against the checksums
below. See `Corpus.from_multi30k` for the sentences with their languages and split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from platformdirs import user_cache_path

from transformer.data.download import keep_copy, own_folder
from transformer.data.text_files import read_lines

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
BASE_URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1"
FOLDER_VARIABLE = "TRANSFORMER_MULTI30K"

Language = Literal["en", "de", "fr"]
Split = Literal[
    "train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr"
]
Variant = Literal["lc.norm.tok", "raw"]


def multi30k_lines(
    language: str,
    split: str,
    *,
    variant: str = "lc.norm.tok",
    folder: str | Path | None = None,
    download: bool = True,
    base_url: str = BASE_URL,
    progress: bool = True,
) -> tuple[str, ...]:
    """Return the captions of one language and split; the same index is the same picture.

    `variant` is `lc.norm.tok` (lower-cased, tokens separated by spaces) or `raw` (as written).
    `folder` holds, or will hold, `data/task1/...` as the dataset's repository lays it out; by
    default it is what TRANSFORMER_MULTI30K names, else the user's cache folder.

    Raises:
        ValueError: for an unknown language, split or variant; for a file with another checksum in
            a folder that you named; for something in the file's place that is no file.
        FileNotFoundError: if there is no whole copy and none can be downloaded, or no folder of the
            name that you gave.
    """
    name = file_name(language, split, variant)
    path = multi30k_folder(folder) / "data" / "task1" / name
    keep_copy(
        f"{base_url}/{name}",
        path,
        checksum=SHA256[variant][f"{split}.{language}"],
        name="Multi30k",
        is_own=own_folder(folder, FOLDER_VARIABLE) is not None,
        download=download,
        advice=f"let {FOLDER_VARIABLE} name a folder with a copy of "
        "https://github.com/multi30k/dataset",
        progress=progress,
    )
    return read_lines(path)


def multi30k_folder(folder: str | Path | None = None) -> Path:
    """Return the folder in use: the argument, else TRANSFORMER_MULTI30K, else the user's cache."""
    return (
        own_folder(folder, FOLDER_VARIABLE)
        or user_cache_path("transformer-walkthrough") / "multi30k"
    )


def file_name(language: str, split: str, variant: str) -> str:
    """Return the name of one file below `data/task1`.

    Raises:
        ValueError: naming the value got and the values allowed.
    """
    for word, value, allowed in (
        ("language", language, get_args(Language)),
        ("split", split, get_args(Split)),
        ("variant", variant, get_args(Variant)),
    ):
        if value not in allowed:
            raise ValueError(f"Multi30k {word} must be one of {', '.join(allowed)}, got {value!r}")
    return f"raw/{split}.{language}.gz" if variant == "raw" else f"tok/{split}.{variant}.{language}"


SHA256 = {
    "lc.norm.tok": {
        "test_2016_flickr.de": "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
        "test_2016_flickr.en": "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
        "test_2016_flickr.fr": "1463bd5960f9bfe098ec3cd752d3df0c49c84dc646fb518964a29232658cd836",
        "test_2017_flickr.de": "02067e4a9402786a4fcb8c1b6f4307e4a5073ced64800abead5273b54f5f31f6",
        "test_2017_flickr.en": "c9d1dfd7a26add989382e534af235af9f0f658b2a30e7eb0efdaf142496ee54f",
        "test_2017_flickr.fr": "c0583117a47b31e8a6c6a97cfe8de153e462074668f4e994764fcc80b21d33b4",
        "test_2017_mscoco.de": "e2825990b8a4e5289d2cdba801d57c187810bab9b4f5d87a30c35800a0d871b6",
        "test_2017_mscoco.en": "fe69ae004d71c42ead0301e70c57de5b1b6b5fb7f52210d42b22801e98e656f3",
        "test_2017_mscoco.fr": "0b6a4620f02b6b9acf7811fda23f90fed9c6baa0b96aa224db50a273078c84d1",
        "test_2018_flickr.de": "45ce6b121708adf538d3a8c71dc1acbcb1e0f2bca74ace8e58652f9ea5b96335",
        "test_2018_flickr.en": "a66e25cbb8323d74a40873dcd222659f39e30ee7687a6ed5445833aed0673239",
        "test_2018_flickr.fr": "22d44a4ba21e050f218399f2c4f9e1a36875f209820c1f1c9af5b76a2947a71c",
        "train.de": "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505",
        "train.en": "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119",
        "train.fr": "8fa41bb718412bcb7c5dfa58603842810a01543eae86a51279f9886b901266e1",
        "val.de": "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00",
        "val.en": "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec",
        "val.fr": "b303e301aa21fe7822a846b2b3fb2d5a1121ec807cd5b1d006fb7b2b5507168a",
    },
    "raw": {
        "test_2016_flickr.de": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        "test_2016_flickr.en": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
        "test_2016_flickr.fr": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
        "test_2017_flickr.de": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
        "test_2017_flickr.en": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
        "test_2017_flickr.fr": "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
        "test_2017_mscoco.de": "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
        "test_2017_mscoco.en": "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
        "test_2017_mscoco.fr": "754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0",
        "test_2018_flickr.de": "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
        "test_2018_flickr.en": "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
        "test_2018_flickr.fr": "fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501",
        "train.de": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        "train.en": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        "train.fr": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
        "val.de": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        "val.en": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        "val.fr": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    },
}
