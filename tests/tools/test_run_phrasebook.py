"""The command that records the phrasebook's runs reads its options."""

import run_phrasebook
from records import RESULTS


def test_the_command_takes_seeds_threads_and_a_place(tmp_path):
    args = run_phrasebook.parsed(
        ["--seeds", "4", "5", "--threads", "1", "--output", str(tmp_path / "x")]
    )
    assert (args.seeds, args.threads, args.output) == ([4, 5], 1, tmp_path / "x")
    assert run_phrasebook.parsed([]).output == RESULTS / "phrasebook.json"
