"""Images: from the folder of the pool, by no detour."""

from __future__ import annotations

import os

import pytest

from apm.label.page.images import read_image
from channelcode.errors import InvalidArgument


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "pool"
    (inside / "deep" / "er").mkdir(parents=True)
    (inside / "a.png").write_bytes(b"A")
    (inside / "deep" / "er" / "b.JPG").write_bytes(b"B")
    (tmp_path / "secret.png").write_bytes(b"S")
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    (inside / "own.png").symlink_to(inside / "a.png")
    (inside / "out").symlink_to(tmp_path)
    (inside / "folder.png").mkdir()
    (inside / "notes.txt").write_text("t")
    (inside / "page.svg").write_text("<svg/>")
    os.mkfifo(inside / "pipe.png")
    return inside


def test_images_of_the_pool(folder):
    assert read_image(folder, "a.png") == (b"A", "image/png")
    assert read_image(folder, "deep/er/b.JPG") == (b"B", "image/jpeg")
    assert read_image(folder, "./deep//er/./b.JPG") == (b"B", "image/jpeg")


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../secret.png", "deep/../../secret.png", "deep/../a.png", "link.png",
        "own.png", "out/secret.png", "folder.png", "pipe.png", "notes.txt", "page.svg", "gone.png",
        "a.png/b.png", "a\0.png", "//etc/x.png", "/etc/x.png", "file:///etc/x.png",
        "http://example.org/a.png", "deep", "~/a.png", "A" * 5000 + ".png", "%2e%2e/secret.png",
    ],
)  # fmt: skip
def test_what_is_refused(name, folder):
    with pytest.raises(InvalidArgument, match="image"):
        read_image(folder, name)


def test_an_absolute_name_of_the_right_file_is_refused(folder):
    with pytest.raises(InvalidArgument):
        read_image(folder, str(folder / "a.png"))
