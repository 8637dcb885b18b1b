"""Vectors as bar codes and maps as small pictures: a few hundred bytes each."""

import base64
import io

import matplotlib.image
import numpy as np
from numpy.typing import NDArray


def picture(strengths: NDArray[np.float64], ink: str) -> str:
    """Return rows of strengths, 0 to 1, as the address of a picture: a pixel a number.

    What is behind shows through a weak pixel, so it holds on a white and on a dark page.
    """
    colour = [int(ink[i : i + 2], 16) for i in (1, 3, 5)]
    pixels = np.empty((*strengths.shape, 4), dtype=np.uint8)
    pixels[..., :3] = colour
    pixels[..., 3] = (np.clip(strengths, 0, 1) * 255).round()
    file = io.BytesIO()
    matplotlib.image.imsave(file, pixels, format="png", metadata={"Software": None})  # type: ignore[dict-item]
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def bar_code(numbers: NDArray[np.float64], ink: str, reach: float) -> str:
    """Return a vector as a picture of one row: nothing at −`reach`, full ink at `reach`."""
    return picture(((numbers / reach + 1) / 2).clip(0, 1)[None, :] ** 2, ink)
