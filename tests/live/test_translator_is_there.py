"""Without the packed translator a user's tests are skipped, and CI's fail."""

import pytest
from tests import conftest


@pytest.mark.parametrize(
    ("ci", "ends"),
    [("true", pytest.fail.Exception), ("", pytest.skip.Exception)],
    ids=["ci", "a user"],
)
def test_a_missing_translator_is_an_error_in_ci(tmp_path, monkeypatch, ci, ends):
    monkeypatch.setattr(conftest, "TRANSLATOR", tmp_path / "manifest.js")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(ends, match="make book"):
        conftest.live_translator.__wrapped__()
    conftest.TRANSLATOR.touch()
    conftest.live_translator.__wrapped__()
