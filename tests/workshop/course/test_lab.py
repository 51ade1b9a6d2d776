"""Notebook 17 in a real JupyterLab: its cells run, and its controls answer."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, ViewportSize, expect

from compendium.run import notebooks
from compendium.run.places import ROOT
from compendium.studies import explorer, phrases
from compendium.studies.explorer import Settings, explore, say

SECONDS = 120
"""What a busy machine may take for a step that takes ten alone."""


@contextmanager
def laboratory(folder: Path) -> Iterator[str]:
    """JupyterLab on a folder's notebooks, with its own settings and results below the folder; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder / "notebooks",
        "IdentityProvider.token": "",
        "LabApp.news_url": "None",
        "LabApp.check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
    }
    places = {f"JUPYTER_{what}_DIR": str(folder / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "COMPENDIUM_OUTPUT": str(folder / "output")}
    environment["PYTHONPATH"] = str(ROOT / "src")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(server, f"http://127.0.0.1:{port}/api", folder / "log.txt")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()  # its kernels end with it
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_for(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(url, timeout=5):  # noqa: S310
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")


def run_all(page: Page, url: str) -> None:
    """Open the notebook, run every cell and wait until the kernel has done them."""
    page.goto(url)
    page.get_by_text("| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.get_by_text("| Busy").wait_for()
    page.get_by_text("| Idle").wait_for()


def saved(page: Page, path: Path) -> list[dict[str, Any]]:
    """Save the notebook; its code cells, of which JupyterLab shows only those near the window."""
    before, end = path.read_bytes(), time.monotonic() + SECONDS
    page.keyboard.press("Control+s")
    while time.monotonic() < end:
        page.wait_for_timeout(100)
        with suppress(ValueError):  # it may be half written
            if path.read_bytes() != before:
                return [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"]
    raise AssertionError("JupyterLab did not save the notebook")


def test_the_explorer_works_in_jupyterlab(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "notebooks/17-explorer.ipynb"
    shutil.copytree(notebooks.FOLDER, path.parent, ignore=shutil.ignore_patterns(".*"))
    fresh = notebooks.read(path)
    for cell in fresh["cells"]:
        cell |= {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
    path.write_text(json.dumps(fresh), encoding="utf-8")
    files = sorted(path.parent.rglob("*"))
    size = ViewportSize(width=1400, height=1200)
    with laboratory(tmp_path) as url, chromium.new_context(viewport=size) as window:
        page = window.new_page()
        page.set_default_timeout(SECONDS * 1000)
        expect.set_options(timeout=SECONDS * 1000)
        run_all(page, f"{url}/lab/tree/{path.name}")
        labels = (explorer.FIELDS[name]["label"] for name in ("epsilon", "support"))
        epsilon, support = (page.get_by_role("textbox", name=label, exact=True) for label in labels)
        epsilon.scroll_into_view_if_needed()
        expect(epsilon).to_have_value("0.5")

        epsilon.fill("0.7531")
        epsilon.press("Enter")
        found = explore(Settings(epsilon="0.7531"))
        onset = page.get_by_role("cell", name=explorer.numbers(found)["plateau_onset"], exact=True)
        expect(onset).to_be_visible()
        # A slider that follows must send nothing back: what was typed stays, and so does D*.
        page.get_by_text("| Idle").wait_for()
        expect(epsilon).to_have_value("0.7531")
        auto = page.get_by_role("checkbox", name=say("auto"), exact=True)
        expect(auto).to_be_checked()
        expect(support).to_have_value(str(found.support))

        support.fill("none")
        support.press("Enter")
        field = explorer.FIELDS["support"]
        expect(page.get_by_text(phrases.fill(field["refused"], **field))).to_be_visible()
        expect(page.get_by_text(say("no_answer"))).to_be_visible()
        expect(auto).not_to_be_checked()
        expect(onset).to_be_visible()
        expect(page.get_by_role("link", name=say("download"))).to_have_count(0)

        auto.check()
        expect(page.get_by_text(say("no_answer"))).to_have_count(0)
        expect(support).to_have_value(str(found.support))
        with page.expect_download() as download:
            page.get_by_role("link", name=say("download")).click()
        assert Path(download.value.path()).read_text() == explorer.csv(found)
        cells = saved(page, path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    checkpoints = {path.parent / ".ipynb_checkpoints"}
    left = {place for place in path.parent.rglob("*") if not {place, *place.parents} & checkpoints}
    assert sorted(left) == files
