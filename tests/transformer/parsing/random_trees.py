"""Trees for property tests: any shape over any of the given words, one-word constituents too."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from transformer.parsing.trees import Tree

LABELS = st.sampled_from(["S", "NP", "VP"])


def random_trees(*words: str) -> SearchStrategy[Tree]:
    word = st.sampled_from(words)
    return st.recursive(
        st.builds(lambda label, only: (label, only), LABELS, word),
        lambda inner: st.builds(
            lambda label, children: (label, *children),
            LABELS,
            st.lists(st.one_of(word, inner), min_size=1, max_size=3),
        ),
        max_leaves=12,
    )
