"""The figures of chapter 07 hold the numbers they show."""

import base64
import io
import itertools
import math
import re

import pytest
import torch
from chart_specs import all_rows, inputs, spec
from matplotlib.image import imread

from transformer.positional import sinusoidal_encoding
from walkthrough.ch07_positional_encoding import figures

ENCODING = sinusoidal_encoding(20, 8)


def test_encoding_heatmap_has_positions_as_rows_and_dimensions_as_columns():
    chart = figures.encoding_heatmap(ENCODING)
    (row,) = all_rows(chart)
    assert len(row["value"]) == len(row["position"]) == 20
    assert len(row["value"][0]) == len(row["dimension"]) == 8
    assert row["value"][0] == [0.0, 1.0] * 4
    assert row["value"][1][0] == round(math.sin(1), 2)
    assert spec(chart)["encoding"]["y"]["field"] == "position"
    assert "→" in spec(chart)["encoding"]["x"]["title"]


def test_the_picture_has_a_cell_for_every_number():
    encoding = sinusoidal_encoding(51, 1024)
    picture = figures.encoding_picture(encoding)
    assert "51 positions as rows, of 512 sines and as many cosines" in picture.alt
    sines, cosines = (image for image in images(picture) if image.shape[:2] == (51, 512))
    assert agree(sines, encoding[:, 0::2]) > 0.95 > 0.1 > abs(agree(sines, encoding[:, 1::2]))
    assert agree(cosines, encoding[:, 1::2]) > 0.95 > 0.1 > abs(agree(cosines, encoding[:, 0::2]))
    with pytest.raises(ValueError, match="even d_model; got 7"):
        figures.encoding_picture(torch.zeros(3, 7))


def agree(image, values):
    """Return how well the warmth of an image, from blue to orange, goes with the values."""
    warmth = torch.from_numpy(image[..., 0] - image[..., 2])
    return torch.corrcoef(torch.stack([warmth.flatten(), values.flatten()]))[0, 1].item()


def images(picture):
    """Return the images inside a picture, as arrays of colours from 0 to 1."""
    found = re.findall(r"data:image/png;base64,([^\"]+)", picture.svg)
    return [imread(io.BytesIO(base64.b64decode(data))) for data in found]


def test_waves_are_the_columns_of_the_encoding():
    rows = {row["pair"]: row for row in all_rows(figures.encoding_waves(ENCODING))}
    assert len(rows) == 4
    torch.testing.assert_close(torch.tensor(rows[1]["sine"]), ENCODING[:, 2], atol=6e-4, rtol=0)
    torch.testing.assert_close(torch.tensor(rows[1]["cosine"]), ENCODING[:, 3], atol=6e-4, rtol=0)
    assert inputs(figures.encoding_waves(ENCODING))["pair"]["max"] == 3


def test_waves_stand_beside_the_bit_with_the_nearest_period():
    # wavelengths 2π and 20π: bits with periods 8 (nearest to 6.3 on a log scale) and 64
    rows = {row["pair"]: row for row in all_rows(figures.encoding_waves(ENCODING))}
    for pair, row in rows.items():
        wavelength = 2 * math.pi * 10_000 ** (2 * pair / 8)
        distances = {b: abs(math.log2(2 ** (b + 1) / wavelength)) for b in range(20)}
        assert row["bit"] == min(distances, key=distances.get)


def test_counter_counts():
    rows = all_rows(figures.binary_counter(n_bits=3))
    for position in range(8):
        bits = {row["bit"]: row["value"] for row in rows if row["position"] == position}
        assert sum(value << bit for bit, value in bits.items()) == position
    with pytest.raises(ValueError, match="got 9"):
        figures.binary_counter(n_bits=9)


def test_wavelengths_run_from_two_pi_to_below_the_base_times_two_pi():
    rows = all_rows(figures.wavelengths_chart(512))
    waves = [row["y"] for row in rows if row["series"].startswith("2π · base")]
    assert len(waves) == 256
    assert waves[0] == pytest.approx(2 * math.pi, rel=1e-3)
    assert waves[-1] == pytest.approx(10_000 ** (510 / 512) * 2 * math.pi, rel=1e-3)
    ratios = {round(b / a, 2) for a, b in itertools.pairwise(waves)}
    assert ratios <= {1.03, 1.04}  # a geometric progression, to the digits drawn
    with pytest.raises(ValueError, match="even d_model"):
        figures.wavelengths_chart(7)


def test_rotation_turns_by_k_times_the_rate():
    rows = {row["pair"]: row for row in all_rows(figures.rotation_chart(ENCODING)) if "pair" in row}
    for row in rows.values():
        for start in (0, 7):
            before = math.atan2(row["sine"][start], row["cosine"][start])
            after = math.atan2(row["sine"][start + 5], row["cosine"][start + 5])
            turned = (after - before - 5 * row["rate"]) % (2 * math.pi)
            assert min(turned, 2 * math.pi - turned) < 0.01


def test_rotation_sliders_never_leave_the_encoding():
    found = inputs(figures.rotation_chart(ENCODING))
    assert found["pos"]["max"] + found["k"]["max"] <= len(ENCODING) - 1


def test_odd_sizes_have_no_pairs():
    for figure in (figures.rotation_chart, figures.encoding_waves):
        with pytest.raises(ValueError, match="even d_model; got 7"):
            figure(torch.zeros(4, 7))


def test_distance_lines_of_all_anchors_lie_on_each_other():
    rows = all_rows(figures.distance_chart(ENCODING, anchors=(0, 5, 10)))
    by_distance = {}
    for row in rows:
        by_distance.setdefault(row["x"], []).append(row["y"])
    assert len(by_distance[3]) == 3
    for values in by_distance.values():
        assert max(values) - min(values) < 0.01


def test_distance_lines_of_learned_encodings_do_not():
    learned = torch.randn(20, 8, generator=torch.Generator().manual_seed(0))
    rows = all_rows(figures.distance_chart({"learned": learned}, anchors=(0, 5)))
    at_three = [row["y"] for row in rows if row["x"] == 3]
    assert abs(at_three[0] - at_three[1]) > 0.1
    with pytest.raises(ValueError, match="got 20"):
        figures.distance_chart(ENCODING, anchors=(20,))
