"""The report: what it says in text, on a page and as JSON."""

import json

import torch
from tools.site.sharing import site_address
from torch import nn

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.doctor import examine
from walkthrough.doctor.report import SITE, TITLES
from walkthrough.page.links import REPOSITORY_URL

SMALL = TransformerConfig(vocab_size=60, d_model=32, n_heads=4, n_layers=2, d_ff=64, max_len=100)


def model(**changes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Transformer(SMALL.replace(**changes))


def test_the_own_model_departs_in_nothing_and_no_bug_is_seen():
    report = examine(model())
    assert report.bugs == report.departures == []
    assert report.verdict().startswith("Transformer: none of the ")


def test_a_leak_is_told_in_three_forms():
    report = examine(model(causal=False))
    assert [one.name for one in report.bugs] == ["future"]
    assert "open to every later word (2 of 2 maps)" in str(report)
    assert "<td" in report._repr_html_()
    assert repr(report) == "Transformer: 1 bug seen."
    told = json.loads(report.to_json())
    assert set(TITLES) < set(told)
    assert told["bugs"][0]["section"] == "3.2.3"


def test_links_lead_to_the_site_of_this_repository():
    assert site_address(REPOSITORY_URL) == SITE


class NoMasks(nn.Module):
    """PyTorch's own stacks without a mask; dropout changes what attention weights add up to."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(60, 32), nn.Embedding(64, 32)
        self.stacks = nn.Transformer(32, 4, 2, 2, 64, dropout=0.1, batch_first=True)
        self.output = nn.Linear(32, 60)

    def embed(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.shape[1]))

    def forward(self, source, target):
        return self.output(self.stacks(self.embed(source), self.embed(target)))


def test_dropout_on_attention_is_no_cause():
    torch.manual_seed(0)
    future, padding = examine(NoMasks()).bugs
    assert (
        "The decoder's self-attention is open to every later word (2 of 2 maps)" in future.sentence
    )
    assert (future.name, padding.name) == ("future", "padding")
