"""Work folders: the same path for the same content, empty, one user at a time, gone afterwards."""

from __future__ import annotations

import threading

from tritonport.npu import scratch


def test_the_same_place_each_time_and_nothing_left(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    places = []
    for _ in range(2):
        with scratch.folder_for("abc") as folder:
            assert list(folder.iterdir()) == []
            (folder / "made").write_text("x")
            places.append(folder)
    assert places[0] == places[1]
    assert not places[0].exists()


def test_a_second_user_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    seen: list[str] = []

    def second() -> None:
        with scratch.folder_for("abc"):
            seen.append("second")

    with scratch.folder_for("abc"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        seen.append("first")
    thread.join(10)
    assert seen == ["first", "second"]


def test_a_name_taken_by_a_link_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"tritonport-npu-{scratch.os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with scratch.folder_for("abc") as folder:
        assert folder.parent != tmp_path / "elsewhere"
        assert "elsewhere" not in str(folder.resolve())
