"""CRAFT: 19 000 sentences of biomedical articles with trees made by hand, fetched at run time.

Source: the Colorado Richly Annotated Full Text corpus, release 5.0.2, by Bada, Verspoor, Cohen,
Hunter and others (https://github.com/UCDenver-ccp/CRAFT). The annotations are CC BY 3.0. The texts
under them have terms of their own, and some allow verbatim copies only: so nothing of it is passed
on here, it is downloaded into the user's cache folder from one pinned commit, and checked against
the checksums below. Six of the 97 articles are licensed for non-commercial use; they are left out.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path
from tqdm import tqdm

from transformer.data.corpus import Corpus
from transformer.data.download import keep_copy, own_folder
from transformer.parsing.codec import Leaf, symbols_of_leaves, tagged_line
from transformer.parsing.symbols import linearize
from transformer.parsing.trees import TaggedTree, Tree, brackets, leaves, read_penn

COMMIT = "2abe82b8bb8089448b84937d5f61d8c218011322"
BASE_URL = f"https://raw.githubusercontent.com/UCDenver-ccp/CRAFT/{COMMIT}"
FOLDER_VARIABLE = "TRANSFORMER_CRAFT"
TREES = "structural-annotation/treebank/penn"
TAGS = (
    *("''", ",", "-LRB-", "-RRB-", ".", ":", "AFX", "CC", "CD", "DT", "EX", "FW", "HYPH", "IN"),
    *("JJ", "JJR", "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$"),
    *("RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
    *("WDT", "WP", "WP$", "WRB", "``"),
)
"""Every tag of its trees; the training articles lack one of them."""

LEFT_OUT = ("15784609", "15917436", "16027110", "16221973", "16517939", "16870721")
"""Articles (by PubMed number) whose text may not be used commercially."""


def craft_trees(
    *,
    folder: str | Path | None = None,
    download: bool = True,
    base_url: str = BASE_URL,
    progress: bool = True,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, tuple[TaggedTree, ...]]:
    """Return the trees of the splits `train`, `dev` and `test`, those of the shared task of 2019.

    The splits are by article. A sentence that an earlier split holds is dropped from a later one
    ("Results", "Materials and Methods"), so that no sentence of dev or test has been trained on.
    `folder` holds, or will hold, `structural-annotation/…` as the corpus's repository lays it out;
    by default it is what TRANSFORMER_CRAFT names, else the user's cache folder. `files` are the
    articles of each split with their checksums, by default all of `SHA256`.

    Raises:
        ValueError: for a file with another checksum in a folder that you named; for something in
            a file's place that is no file; naming file and line, for a line that is no tree.
        FileNotFoundError: if there is no whole copy and none can be downloaded, or no folder of the
            name that you gave.
    """
    files = SHA256 if files is None else files
    paths = {article: craft_folder(folder) / TREES / f"{article}.tree" for article in _all(files)}
    missing = sum(not path.exists() for path in paths.values())
    with tqdm(total=missing, desc="CRAFT", unit="file", disable=not (progress and missing)) as bar:
        for article, path in paths.items():
            was_there = path.exists()
            keep_copy(
                f"{base_url}/{TREES}/{path.name}",
                path,
                checksum=_all(files)[article],
                name="CRAFT",
                is_own=own_folder(folder, FOLDER_VARIABLE) is not None,
                download=download,
                advice=f"let {FOLDER_VARIABLE} name a folder with a copy of "
                "https://github.com/UCDenver-ccp/CRAFT",
                progress=False,
            )
            bar.update(not was_there)
    splits, seen = {}, set()
    for split, articles in files.items():
        trees = [tree for article in articles for tree in _read(paths[article])]
        words = [tuple(leaves(tree)) for tree, _ in trees]
        splits[split] = tuple(
            tree for tree, key in zip(trees, words, strict=True) if key not in seen
        )
        seen |= set(words)
    return splits


def craft_corpus(
    split: str,
    *,
    leaf: Leaf = "tag",
    gold_tags: bool = False,
    max_sentences: int | None = None,
    folder: str | Path | None = None,
    download: bool = True,
    progress: bool = True,
) -> Corpus:
    """Read CRAFT: sentences, and their trees as symbols with such leaves (§6.3).

    With `gold_tags` the sentences are `word/TAG word/TAG …`. `max_sentences` draws that many
    sentences, always the same ones; fewer are a part of more. The gold trees stand in
    `source_trees`, in brackets. See `craft_trees` for the other arguments.

    Raises:
        ValueError: for an unknown split or kind of leaf, max_sentences below 1, and whatever
            `craft_trees` raises.
    """
    if max_sentences is not None and max_sentences < 1:
        raise ValueError(f"max_sentences must be at least 1, got {max_sentences}")
    splits = craft_trees(folder=folder, download=download, progress=progress)
    if split not in splits:
        raise ValueError(f"CRAFT split must be one of {', '.join(splits)}, got {split!r}")
    trees = list(splits[split])
    if max_sentences is not None:
        random.Random(0).shuffle(trees)
        trees = trees[:max_sentences]
    words = [tuple(leaves(tree)) for tree, _ in trees]
    return Corpus(
        name="craft",
        source_language="en",
        target_language="trees",
        split=split,
        source=tuple(
            tagged_line(line, tags) if gold_tags else " ".join(line)
            for line, (_, tags) in zip(words, trees, strict=True)
        ),
        target=tuple(
            " ".join(linearize(gold.tree, symbols_of_leaves(leaf, gold))) for gold in trees
        ),
        tokenized=True,
        source_trees=tuple(brackets(tree) for tree, _ in trees),
    )


def craft_folder(folder: str | Path | None = None) -> Path:
    """Return the folder in use: the argument, else TRANSFORMER_CRAFT, else the user's cache."""
    return (
        own_folder(folder, FOLDER_VARIABLE) or user_cache_path("transformer-walkthrough") / "craft"
    )


def _all(files: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {article: checksum for part in files.values() for article, checksum in part.items()}


def _read(path: Path) -> list[TaggedTree]:
    trees = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            try:
                tree, tags = read_penn(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
            trees.append(TaggedTree(_without_spaces(tree), tags))
    return trees


def _without_spaces(tree: Tree) -> Tree:
    """Take the hair spaces out of words, so that a line can be split at its spaces."""
    return (
        tree[0],
        *(
            "".join(c.split()) or "-" if isinstance(c, str) else _without_spaces(c)
            for c in tree[1:]
        ),
    )


SHA256 = {
    "train": {
        "11532192": "ebbc619e44561768d549baf97676f0384179d3a3a574a0b2945225ef34403ccd",
        "11597317": "3e2cea07f961e454ffb05944c49f7b865b13951726989a327d72b20baf34c4fb",
        "11897010": "7ab4a5b4b9771491b6710a328cfec1fa05f65cb42490290c72fc942edd58138d",
        "12079497": "0aae3f0b4697a22073df56f3c68987e00f481f8aeb9030579b4c0ee423420bfd",
        "12546709": "f3193b8e061099e1b53ecd72f5c6e6072ee3e4210395800f84c9690ce3530d56",
        "12585968": "fd051eba4167efdfac53264d61d512bdd213104490cb052e00d5591f8fd055ad",
        "12925238": "60a71940a9ee3d8c90442a255ac6920fce73a3ace816be952007b32c4f470a0e",
        "14609438": "5c807e84e836cafbddcf061a804d17ee3b2eb68c58425d46de12e0a7d265a0a9",
        "14611657": "292ef2ce9e25ed71c4a2bbe3fc996689650b4524479fd5dfdd8e98fe5227d5eb",
        "14723793": "3c62a0fda4cddfb83c9ef8d505dd37a4a4f27dda61f68e363f394ac8c9594734",
        "14737183": "87e51518c40d5d926a4b740bc82863632d3cd0989df8f36573f236d64f793959",
        "15005800": "80ac48887c13f5714d31b920cd2ac776172883da7c683710b111bace535c81bf",
        "15040800": "1074b366b5c5e3f8eb56ed5fb72a684bcd7914467a16280495203c6c71754e9b",
        "15061865": "e583e75b7527131bbb86143cb89caaec6283833ead6b64666c53f7e32c3b104b",
        "15207008": "4cdade0e37078a56f2e247fe9da29f48aff87fbb857df7f45712e55129215e24",
        "15314655": "9f1e3e12951ef1ea438b0362adedf98b9d2b956851d1f64bbd6b994d3f6759b3",
        "15314659": "3053a313ccb94e3dbafe6a217078756de088159dfc2c2f3dd4345eff02062623",
        "15320950": "eed219cdacdf30bf6a768e51a55d14d3badd4378307171cb764b05ca7ed7c3fd",
        "15328533": "2800495f5064fa39fdc84d4d5113c586ed9bed4fdaf104288650b89344b22654",
        "15345036": "da32b31d09fb86275342f1b11e72578e8266991f01558ad5afc7f5ade3d515eb",
        "15492776": "c31dd5905dd10a4ae3bf265ff4582f49cab7e1ccdc1a304e00d7502eb64e882e",
        "15550985": "917fdd6a711ff16454dd91631d4a0bc050d0ae500bf67540ed910a6d7ff39e8a",
        "15588329": "419090f60b0a8dbeb0bf81af7fe2866430a63a334f54483599fb937ad14c9826",
        "15630473": "e5b05ef8a33d8304be9593eeffc87b1fe0d9892e871e8bc588a7f8d8d8d3c04e",
        "15676071": "a6311fe3513876d7435d513eb77de042e5b6b136826036c766bcd24e5e8f3dfa",
        "15760270": "1f140d14a4c8de2153a45dfc4f7a0fd026647c3e397967b7fd723f7e3ea633b6",
        "15819996": "697ed3731ef35a2326ecdc9c461e63229ee01d8df061804fb8219b5aab80c57b",
        "15836427": "84af966c7959a5a219c692a5f2ff3e24e72ffc871a4748b4f03849f1c2d51ffc",
        "15876356": "6d02187f0518f0cc9a3ba23e0c9c56ba9b58c65774fda726f0e4ea7a50120669",
        "15921521": "a9480cb608c9b076620d7769c66fe3d3624277c3b8f94fbcf30c48a5a533c4c3",
        "15938754": "21ec6b119517074c24874925af2b0344a8bb0da5067a26f5d7011422194692e8",
        "16098226": "feccf993d4a25912178658b9cee7644f7e39c82d579a833a125b6290ea879262",
        "16103912": "8356a2b2bc58b0c1bfa684408410a79d82382581b3d04150d5de2ac2c5f961ad",
        "16109169": "8230089fc061c721434802809b2d8f5a82d0b05a48baee97da68bc98a53f31c5",
        "16110338": "3bc0fc06e47148c422520731023ee49b5fdf6b8b1b267bdba3beba3115023e77",
        "16121255": "6a3046e315650e45909c7b7fb8e0800c9e36f88e4ae4e7408b340ea92957fbda",
        "16121256": "dcb3a3789d3bae776eac5b842ef4b648f04c5a17ced125f8a1f25adb63bf348a",
        "16216087": "dbeddf638f9041f6c5c8955e7a094ac95e44c04ea91be4bd2ffce8832358ce22",
        "16255782": "03a6d34e293167025c30c791b7a1a4cc3c00711ebb60920284136e33cb7e6d76",
        "16279840": "d332eeb4bfb6f50cf4612c37577303b03a86854afaaf2897599f0590a2a3b16e",
        "16362077": "fb89406b9e1f0cabc210e72159486f89199b0dd8e36b088bb47365fc57edef33",
        "16433929": "ec7a24974df4afd8d1dc98fb99cd7cef2928383cac8b49a16eaa740cb8a4805a",
        "16462940": "c4b10869cf847c6b93751af2c7da459b85338b4868fb2751a0067aa05407a472",
        "16504143": "18f69c23160365d43e1dc73553b8b7abc0b2122bf8684279cf84f8f72c51d1e1",
        "16504174": "6d9871b529c16cabf44b08c7dffd77393a922996a4f884fa1ef799a78fad65cb",
        "16507151": "169d69fa9e0dc6ca6b17474c80a9e5a2c46ad91b1c4d46d2c413d7ad36c0bd99",
        "16539743": "de11be4d470dfa4a529f34595abd57d524836a01d75f1069c6bce875e6d08f55",
        "16579849": "0fdf721d5b9b715ff47cc24a052e2ea626ce366cee554abf6e46cb0ec53ef434",
        "16628246": "280b83f309f2b5cd364b10dbe03cd7fbab82fe961e3e62be9d285415f6067911",
        "16670015": "0d35f18f5f726e5946815d3c7476831e00f0ae0179453a13334981c2478f2725",
        "16700629": "5266ccdd8c637d6783960f72ce51cec257b67ce48306578acfdf9596d1965c6a",
        "17002498": "81e312385d0add0c88e945c7707453717d876a0c59d4eac0587b4fb7713ea56b",
        "17020410": "4dfa82209bae4cda0ad6c0e7533d376221675f4dd80ef7a85d6bc1c98340c6c9",
        "17022820": "3becb130531221df670e2e794b3b883ccf5a5c4e49b62793e1751ae1adde727f",
        "17069463": "8f984841b4d3d1486cd69267bdc47f2f0976e1402ba6658370aeee507d51f4d9",
        "17078885": "4a73ecebffc47a2a27c4d91abe9508c58ae05c74648c5390f6cae2ab678d4a39",
        "17083276": "351509641d10ef27872456ac99484ce0dc3e671905942e87b4e0fe6064b3aef8",
    },
    "dev": {
        "17194222": "16478eebc27153cb7cf87a4cb00b074851a2a2e198d0a9d62d944c09f01c62b4",
        "17244351": "7bf0e8e4a825be51226f66671fdf3a644e0e3a57000922821897e1a0252dd9b1",
        "17425782": "52f3216be10335bb3224ffca42cf9c67ea07f6d40083d34ce04975100940292e",
        "17447844": "7368344927d964008ac4bfd3ee1cc7eb0456e734634671b8226c85a826f7f539",
        "17590087": "034dbb5cc1b0ae8fde1ce4be8f1bfdf9cf9767f4956bdf799bfc3448d53064a5",
        "17608565": "a4c523f74ced46ee3738d08b410fc25c55d14a181c1c686a5431dec35051f069",
        "17696610": "c7cb894602da6810679e48946e067d717e65151890b1666cf6c485685c9821b1",
    },
    "test": {
        "11319941": "51e068fe455fd812eeeb273c303f749f40bdfcf5f1612bd67a2748aa1ac6cc60",
        "11604102": "85c4206bd32984c956e6054b24e3ab0dfcf019b57e9d661bf479028356b54718",
        "14624252": "bd076124a0721ee651bb94b43693ec7bb42bd284295e15b403ccdbdc8ce62efe",
        "14675480": "6376a295c00c2c95caa802a4907ad023f87dbc3464e5032a1b009ab82896ed3e",
        "14691534": "543fb25aeb76275d97f123e9918410c2ebac5f8268a4a77e97a2d47f7ba3be24",
        "15018652": "992db6a8d0642ac86cdfe6737cb41c4269c3f370258fa94b00ba64a8a6418ec1",
        "15070402": "1d43c32066a94fd3ae07f346a257308b45359c6e9fa23ffc5f2f72ad93436fea",
        "15238161": "c8c5b7f2023feb47cce79fe0347df9a1a39d9506c46b1af725eaf03074618223",
        "15328538": "1a352b5361324c382a001561fd7e3d324bcd13d81dc05bc5e8c14efe2f42382e",
        "15560850": "4d93d3908cc6e221fc4c7534c641b4e09bc5a91456335731881b9ef508f3836d",
        "15615595": "ec154f3e46c56b0d682aaaf010fc21269bd1228d5512c0851e00f5e28f028e46",
        "15619330": "b72cdfcc2b04b3d3cb2c91509592019e4ae700bad350f3d7154cd1e512854133",
        "15850489": "ee67e0b91f279d36bc179d7e9fd4dc3165072169ecfa99450530e314d1cfdb01",
        "15882093": "0efbfcec1cffef633d217200c6cd6d602e4bad944b132cfb23ebc3989a039268",
        "16026622": "c4981aa0791a524a47e7b4c1b484c3e5fa460e61b4133715160b99f4ec6f31c3",
        "16410827": "30b1b183ebb8da8ba1aa86b8dd85b24b578cb6a663304959dfa2be4833193001",
        "16611361": "44eef3e45eb4f7a1733d1fa7e3d35b16b1b48031fcf10f68150140deda46dc73",
        "16787536": "7386a18f9b5b68e7eb468dc9743ee6662edce225b2bdb34997413d8bd8b81860",
        "16800892": "df8aa446e450af6bdcfb56d1ef1568fad64c0b100d5ae5c6ca03040a25b6a77f",
        "16968134": "e247378f47e81fc0d460f37c1c879325ab56b6c874a4a8225cbc4d5c8f61e1a6",
        "17029558": "926b43e2f873e09eae504e419fd6cde768a273917b412a301c933ab137f20944",
        "17201918": "839e37b416957929f31ef7eeee527a16ddd9538ebdbc7d43fe244117cb5c89ca",
        "17206865": "4ab41e6607baf03b4e6f0abd3f707c110e992289e336c3c86d3b2cfc672af298",
        "17465682": "cbe38418fc475672ed63f465718a05d7f41e5a0467655c85964b8721d94692f7",
        "17503968": "bd35b7282978a49bc3efa5509b9a683a3698ff08f9a9eb1fe483a2e6096080bf",
        "17565376": "191d4fb98fcf8520e475626336517d36f2647bbab973219279af1ee074b2ecd4",
        "17677002": "9035312cd5bdb836025d0a5fbc90b2176b6b490a052297470601b3b42a2fa87b",
    },
}
