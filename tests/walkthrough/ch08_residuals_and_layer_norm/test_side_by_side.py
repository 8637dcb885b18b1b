"""Models that are trained side by side are those that are trained alone."""

import pytest
import torch

from walkthrough.ch08_residuals_and_layer_norm import side_by_side
from walkthrough.ch08_residuals_and_layer_norm.side_by_side import Recipe
from walkthrough.lab import copying


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_losses_and_models_are_those_of_the_shown_training(norm):
    recipes = [Recipe(norm, "xavier", 5e-3, 2, 0), Recipe(norm, "scaled", 1e-2, 3, 1)]
    models, losses = side_by_side.train(recipes, updates=6)
    for recipe, model, mine in zip(recipes, models, losses, strict=True):
        options = {"warmup": recipe.warmup, "peak": recipe.peak, "seed": recipe.seed}
        alone, expected = copying.train(norm, recipe.start, updates=6, **options)
        torch.testing.assert_close(mine, torch.tensor(expected), atol=2e-3, rtol=0)
        assert copying.loss_on_new(model) == pytest.approx(copying.loss_on_new(alone), abs=2e-3)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_one_stack_starts_small_and_the_other_at_full_size(stack):
    def sizes(start):
        model = side_by_side.new_model(Recipe("post", start, 5e-3, 1, 0))
        stacks = {"encoder": model.encoder, "decoder": model.decoder}
        return {
            name: sum(p.norm().item() for n, p in one.named_parameters() if "weight" in n)
            for name, one in stacks.items()
        }

    other = "decoder" if stack == "encoder" else "encoder"
    assert sizes(stack)[stack] == pytest.approx(sizes("scaled")[stack])
    assert sizes(stack)[other] == pytest.approx(sizes("xavier")[other])


def test_two_norms_are_two_architectures():
    with pytest.raises(ValueError, match="must share the norm"):
        side_by_side.train(
            [Recipe("post", "xavier", 1, 1, 0), Recipe("pre", "xavier", 1, 1, 0)], updates=1
        )
