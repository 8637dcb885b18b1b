"""The drawings of chapter 01: every state and the look back, an experiment in seven words."""

import re

import torch

from walkthrough.ch01_why_attention.figures import fading, how_to_read, lstm_cell


def test_each_word_and_the_look_back_have_a_frame_of_numbers():
    states = torch.tensor([[0.9, 0.0], [0.41, 0.8]])
    shown = fading(states, torch.tensor([0.7, 0.3]), ["Jane", "visite"], ["person", "action"])
    assert shown.markup.count('type="radio"') == 3
    assert "--a0:90.0%;--a1:41.0%;--a2:70.0%" in shown.markup
    assert "--a0:0.0%;--a1:80.0%;--a2:30.0%" in shown.markup
    assert "Jane 0.90, visite 0.41. After a look back at all states: 0.70." in shown.description


def test_an_experiment_is_told_in_seven_words():
    shown = how_to_read()
    assert shown.markup.count('type="radio"') == 7
    told = re.findall(r"<b>(\w+)</b>", shown.markup)
    assert told == ["update", "rate", "seed", "pair", "Difference", "interval", "verdict"]
    assert "79 − 68 = 11 points" in shown.markup
    assert "mean 7.8 and its interval 4.4 to 11.2" in shown.description
    assert "<i>better</i>: " not in shown.markup
    assert "verdict</b> is <i>better</i>" in shown.markup


def test_its_verdict_is_computed():
    alike = how_to_read((60, 70, 65, 74, 68), (61, 69, 66, 73, 68))
    assert "verdict</b> is <i>not told apart</i>" in alike.markup


def test_the_cell_of_an_lstm_names_its_gates():
    assert all(f">{gate}<" in lstm_cell().svg for gate in ("forget f", "input i", "output o"))
