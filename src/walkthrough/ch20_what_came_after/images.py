"""Images: patches for words, a class token, the package's encoder (ViT); and two rivals."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.model import Encoder, Transformer
from transformer.positional import LearnedEncoding
from walkthrough.ch20_what_came_after.training import Recipe, train

SIDE, N_CLASSES, N_TEST = 8, 10, 597
RECIPE = Recipe(updates=300, peak=3e-3, warmup=30)
BATCH = 100


@dataclass(frozen=True)
class Digits:
    """Scanned digits of 8 × 8 pixels, grey from 0 to 1, and what they show."""

    images: Float[Tensor, "n side side"]
    labels: Int[Tensor, " n"]


def digits() -> tuple[Digits, Digits]:
    """Return 1200 images to train on and the last 597 to test on."""
    found = load_digits()
    images = torch.tensor(found.images, dtype=torch.float32) / 16
    labels = torch.tensor(found.target)
    n = len(images) - N_TEST
    return Digits(images[:n], labels[:n]), Digits(images[n:], labels[n:])


def patches(
    images: Float[Tensor, "batch height width"], size: int
) -> Float[Tensor, "batch n_patches pixels"]:
    """Cut images into squares, row by row; each becomes one vector of its pixels.

    Raises:
        ValueError: height or width is not a multiple of `size`.
    """
    height, width = images.shape[-2:]
    if size < 1 or height % size or width % size:
        raise ValueError(
            f"height and width must be multiples of the patch size {size}, got {height} × {width}"
        )
    cut = images.unfold(-2, size, size).unfold(-2, size, size)  # batch, rows, columns, size, size
    return cut.flatten(-2).flatten(1, 2)


class VisionTransformer(nn.Module):
    """Patches, one matrix, a class token, learned positions, the package's `Encoder`.

    Raises:
        ValueError: the side is not a multiple of the patch size.
    """

    def __init__(self, config: TransformerConfig, *, patch: int, side: int = SIDE) -> None:
        super().__init__()
        if patch < 1 or side % patch:
            raise ValueError(f"side must be a multiple of the patch size {patch}, got {side}")
        self.config, self.patch, self.side = config, patch, side
        n_patches = (side // patch) ** 2
        self.embed = nn.Linear(patch**2, config.d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, config.d_model))
        self.positions = LearnedEncoding(d_model=config.d_model, max_len=1 + n_patches)
        self.encoder = Encoder(config)
        self.head = nn.Linear(config.d_model, N_CLASSES)
        Transformer.reset_parameters(self)  # type: ignore[arg-type]

    def forward(
        self, images: Float[Tensor, "batch height width"]
    ) -> Float[Tensor, "batch classes"]:
        """Return a number for every class, read from the class token.

        Raises:
            ValueError: an image has another size.
        """
        return self.head(self.states(images)[0][:, 0])

    def states(
        self, images: Float[Tensor, "batch height width"], *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch tokens d_model"], list[Tensor | None]]:
        """Return the states of class token and patches, and the weights of every layer."""
        if tuple(images.shape[-2:]) != (self.side, self.side):
            raise ValueError(
                f"this model has positions for images of {self.side} × {self.side} pixels, got "
                f"{images.shape[-2]} × {images.shape[-1]}"
            )
        x = self.embed(patches(images, self.patch))
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], dim=1)
        x = x + self.positions(x.shape[1])
        everywhere = torch.ones(len(x), 1, 1, x.shape[1], dtype=torch.bool)
        return self.encoder(x, everywhere, need_weights=need_weights)


def new_model(kind: str, *, seed: int) -> nn.Module:
    """Return an untrained model: "ViT" (patches of 2 × 2) or "convolution".

    Raises:
        ValueError: there is no such kind.
    """
    torch.manual_seed(seed)
    if kind == "convolution":
        return nn.Sequential(
            nn.Unflatten(1, (1, SIDE)),
            *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten()),
            nn.Linear(32 * (SIDE // 2) ** 2, N_CLASSES),
        )
    if kind != "ViT":
        raise ValueError(f"kind must be 'convolution' or 'ViT', got {kind!r}")
    sizes = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64, "dropout": 0.0}
    config = TransformerConfig(vocab_size=N_CLASSES, norm="pre", **sizes)  # type: ignore[arg-type]
    return VisionTransformer(config, patch=2)


def train_images(
    model: nn.Module, data: Digits, recipe: Recipe = RECIPE, *, seed: int
) -> nn.Module:
    """Train a model to name digits."""
    generator = torch.Generator().manual_seed(seed)

    def losses() -> Iterator[Tensor]:
        while True:
            for chosen in torch.randperm(len(data.images), generator=generator).split(BATCH):
                yield F.cross_entropy(model(data.images[chosen]), data.labels[chosen])

    return train(model, losses(), recipe)


@torch.no_grad()
def share_right(model: nn.Module, data: Digits) -> float:
    """Return the share of images that a model names rightly."""
    return float((model(data.images).argmax(-1) == data.labels).float().mean())


def linear_share_right(training: Digits, test: Digits) -> float:
    """Return the same for scikit-learn's logistic regression on the pixels."""
    model = LogisticRegression(max_iter=2000).fit(training.images.flatten(1), training.labels)
    return float(model.score(test.images.flatten(1), test.labels))
