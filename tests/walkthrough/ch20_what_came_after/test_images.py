"""Patches, the vision transformer's input, and what it refuses."""

import pytest
import torch

from walkthrough.ch20_what_came_after import images
from walkthrough.ch20_what_came_after.training import Recipe


def test_patches_go_row_by_row_and_hold_squares():
    picture = torch.arange(16.0).view(1, 4, 4)
    assert images.patches(picture, 2)[0].tolist() == [
        [0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15],
    ]  # fmt: skip
    assert torch.equal(images.patches(picture, 4), picture.flatten(1)[:, None])


@pytest.mark.parametrize("size", [3, 0, -2, 16])
def test_images_that_do_not_divide_are_refused(size):
    with pytest.raises(ValueError, match=f"multiples of the patch size {size}, got 8 × 8"):
        images.patches(torch.zeros(1, 8, 8), size)


def test_an_image_of_the_wrong_size_is_refused_with_both_sizes():
    model = images.new_model("ViT", seed=0)
    with pytest.raises(ValueError, match="images of 8 × 8 pixels, got 10 × 8"):
        model(torch.zeros(1, 10, 8))
    with pytest.raises(ValueError, match="'diffusion'"):
        images.new_model("diffusion", seed=0)


def test_the_digits_are_split_and_each_model_learns_them():
    training, test = images.digits()
    assert (len(training.images), len(test.images)) == (1200, 597)
    assert training.images.min() == 0
    assert training.images.max() == 1
    assert images.linear_share_right(training, test) > 0.85
    for kind in ("ViT", "convolution"):
        brief = Recipe(updates=40, peak=3e-3, warmup=5)
        model = images.train_images(images.new_model(kind, seed=0), training, brief, seed=0)
        assert images.share_right(model, test) > 0.4
