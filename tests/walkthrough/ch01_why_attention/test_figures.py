"""The lead picture of chapter 01 shows every state, and the look back last."""

import torch

from walkthrough.ch01_why_attention.figures import fading


def test_each_word_and_the_look_back_have_a_frame_of_numbers():
    states = torch.tensor([[0.9, 0.0], [0.41, 0.8]])
    shown = fading(states, torch.tensor([0.7, 0.3]), ["Jane", "visite"], ["person", "action"])
    assert shown.markup.count('type="radio"') == 3
    assert "--a0:90.0%;--a1:41.0%;--a2:70.0%" in shown.markup
    assert "--a0:0.0%;--a1:80.0%;--a2:30.0%" in shown.markup
    assert "Jane 0.90, visite 0.41. After a look back at all states: 0.70." in shown.description
