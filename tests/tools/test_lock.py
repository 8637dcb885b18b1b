"""The lock is for every machine: no folder of the one it was compiled on, no build of its own."""

from tools.environment import lock


def test_the_package_stands_once_at_the_end_and_names_no_folder():
    compiled = (
        "# a remark\n-e .\nonnx==1.23.2\ntorch==2.13.0+cpu\n"
        "transformer-walkthrough @ file:///home/reader/book\nurllib3==2.0 ; python_version > '3'\n"
    )
    wanted = "onnx==1.23.2\ntorch==2.13.0\nurllib3==2.0 ; python_version > '3'\n-e .\n"
    assert lock.portable(compiled) == wanted
    assert lock.portable(wanted) == wanted
