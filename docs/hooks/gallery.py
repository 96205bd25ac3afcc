"""Add the gallery to the manual: every file of examples/ with its picture, its output, its source.

An example takes the path of its picture as argument. What it drew and printed is kept under build/
as long as neither it nor the library changes, so that the manual can be built again quickly. An
example that needs an extra which is not installed says so in place of its picture; under NO_SKIPS,
as in `.ci/run`, the build fails instead.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[!_]*.py"))
KEPT = ROOT / "build" / "gallery"
SECONDS = 300  # for an example that needs 20, on a machine that is busy
ALONE = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
NEEDS = "this example needs "  # how the only line begins that an example then prints
CARD = """- [![{title}]({name}.png)]({name}.md)

    [{title}]({name}.md)
"""
PLAIN = "- [{title}]({name}.md)\n"


def on_files(files: Any, *, config: Any) -> Any:
    """Called by mkdocs when it has collected the pages of docs/."""
    state = library_state()
    with ThreadPoolExecutor(max_workers=2) as pool:
        made = list(pool.map(lambda path: run(path, state), EXAMPLES))
    for path, (picture, printed) in zip(EXAMPLES, made, strict=True):
        content = page(path, picture, printed)
        files.append(File.generated(config, f"gallery/{path.stem}.md", content=content))
        if picture is not None:
            drawn = File.generated(config, f"gallery/{path.stem}.png", abs_src_path=str(picture))
            files.append(drawn)
    shown = [path for path, (picture, _) in zip(EXAMPLES, made, strict=True) if picture is not None]
    files.append(File.generated(config, "gallery/index.md", content=index(shown)))
    return files


def run(path: Path, state: str) -> tuple[Path | None, str]:
    """The picture of an example and what it prints; run only if that is not known yet."""
    key = hashlib.sha256(path.read_bytes() + state.encode()).hexdigest()[:16]
    picture, printed = KEPT / f"{path.stem}-{key}.png", KEPT / f"{path.stem}-{key}.txt"
    if not (picture.is_file() and printed.is_file()):
        KEPT.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **ALONE, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(path), str(picture)]
        options: Any = {"cwd": KEPT, "env": environment, "timeout": SECONDS}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if done.stdout.startswith(NEEDS) and not os.environ.get("NO_SKIPS"):
            return None, done.stdout
        if done.returncode != 0 or not picture.is_file():
            raise PluginError(f"{path.name} drew nothing: {done.stdout}{done.stderr}")
        printed.write_text(done.stdout)
    return picture, printed.read_text()


def library_state() -> str:
    """A digest of the sources of the library: pictures follow from them."""
    digest = hashlib.sha256()
    for package in ("channelcode", "apm"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def title(path: Path) -> str:
    """The first sentence of an example's docstring, up to its colon or stop."""
    first = (ast.get_docstring(ast.parse(path.read_text())) or path.stem).partition("\n")[0]
    return first.partition(":")[0].rstrip(".")


def page(path: Path, picture: Path | None, printed: str) -> str:
    """The page of one example."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return "\n".join(
        [
            f"# {title(path)}",
            "",
            text,
            "",
            *([f"![{title(path)}]({path.stem}.png)", ""] if picture is not None else []),
            *(["It prints", "", "```text", printed.rstrip(), "```", ""] if printed.strip() else []),
            f"`examples/{path.name}`:",
            "",
            "~~~python",
            path.read_text().rstrip(),
            "~~~",
            "",
        ]
    )


def index(shown: list[Path]) -> str:
    """All examples by their pictures; those without one by their names."""
    cards = "\n".join(
        (CARD if path in shown else PLAIN).format(title=title(path), name=path.stem)
        for path in EXAMPLES
    )
    head = "Each picture is made by one file of `examples/`, which runs in seconds."
    return f'# Gallery\n\n{head}\n\n<div class="gallery" markdown>\n\n{cards}\n</div>\n'
