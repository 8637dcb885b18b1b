"""The recorded maps of chapter 21 name their rows as every page does."""

import re

from walkthrough.ch21_translate_in_your_browser import translator
from walkthrough.ch21_translate_in_your_browser.figures import recorded


def test_a_row_of_the_decoder_is_the_word_about_to_be_written():
    markup = recorded(*translator.load_translator()).markup
    rows = [re.findall("<b>(.*?)</b>", grid) for grid in markup.split('<div class="cells')[1:]]
    english = ["Jane", "visits", "Africa", "in", "September"]
    assert rows[1] == rows[2] == [*english, "&lt;/s&gt;"]
