"""Add the reference to the manual: one page for each topic, from the docstrings of what is public.

A topic names the packages whose `__all__` it shows, or single modules with the names to show. What
is not exported is not shown. Each name stands under the module that defines it, so that types in
signatures can be linked; the page says from where users import it.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from mkdocs.structure.files import File

from channelcode.errors import MissingExtra


@dataclass(frozen=True)
class Topic:
    """A page: a file name, a title, one sentence, and where its names come from.

    `sources` are packages, or "package: Name Name" for some names of one. Classes in `whole` show
    what they inherit, too.
    """

    file: str
    title: str
    sentence: str
    sources: tuple[str, ...]
    whole: tuple[str, ...] = ()


TOPICS = (
    Topic(
        "learner",
        "Learner",
        "Ask for an example, tell its label, repeat; what is known, recorded and advised.",
        (
            "apm: Learner Belief",
            "apm.rounds: Rows Round Run",
            "apm: History Record ScoreSummary",
            "apm.insight",
        ),
        ("Learner",),
    ),
    Topic("selectors", "Selectors", "Which example to label next.", ("apm.selectors",)),
    Topic("power", "Budgets", "How much power APM gives the target input.", ("apm.power",)),
    Topic(
        "posteriors", "Posteriors", "What is believed about the parameters.", ("apm.posteriors",)
    ),
    Topic(
        "encoders",
        "Encoders",
        "From an example and the parameters to the channel input.",
        ("apm.encoders",),
    ),
    Topic(
        "experts",
        "Experts",
        "Whom to ask, when answers have prices. `Expert` itself is with the encoders.",
        ("apm.experts: ExpertLearner Answered Pairs",),
        ("ExpertLearner",),
    ),
    Topic("pairs", "Pairs", "The best of all pairs of many items.", ("apm.pairs",)),
    Topic(
        "compare",
        "Comparison",
        "Selectors on your own data.",
        ("apm.comparison: compare Comparison",),
    ),
    Topic(
        "files",
        "Files",
        "Tables, label files, the next rows to label.",
        ("apm.label", "apm.tables"),
    ),
    Topic(
        "adapters",
        "Adapters",
        "Inside scikit-learn, scikit-activeml and modAL.",
        ("apm.adapters",),
    ),
    Topic(
        "channels",
        "Channels",
        "How likely each label is, given the channel input.",
        ("channelcode.channels",),
        ("Channel",),
    ),
    Topic(
        "measures",
        "Input laws",
        "Laws of the channel input, one or a pool of them.",
        ("channelcode.measures",),
    ),
    Topic(
        "capacity",
        "Capacity",
        "The most information under a constraint, with proof.",
        ("channelcode.capacity",),
    ),
    Topic(
        "information",
        "Information",
        "Entropy, mutual information with its error, what a choice can lose.",
        ("channelcode.information", "channelcode: information_gap_bound GapBound"),
    ),
    Topic(
        "transport", "Transport", "Wasserstein-2 to a discrete target.", ("channelcode.transport",)
    ),
    Topic(
        "feedback",
        "Codes with feedback",
        "Posterior matching and its classical cases.",
        ("channelcode.feedback",),
    ),
    Topic(
        "certificates",
        "Certificates and errors",
        "What a result proves, and what is raised.",
        (
            "channelcode: Certificate SolveStats Status",
            "channelcode: ChannelCodeError InvalidArgument MissingExtra NotConverged",
        ),
    ),
    Topic(
        "pictures",
        "Pictures",
        "Figures of capacities, codes and learners.",
        (
            "channelcode.plot: capacity capacity_curve kkt_function",
            "channelcode.plot: information maps rates waterfall",
            "apm.plot: selection learning_curve efficiency calibration evaluation",
        ),
    ),
    Topic(
        "testing",
        "Checks for your own",
        "Contracts that your channel, encoder, posterior or selector should pass.",
        ("channelcode.testing", "apm.testing"),
    ),
    Topic(
        "studies",
        "Studies",
        "The paper's experiments and ours.",
        ("apm.studies: list_datasets load Dataset reproduce run_multiclass run_rule",),
    ),
)


def on_files(files: Any, *, config: Any) -> Any:
    """Called by mkdocs when it has collected the pages of docs/."""
    for name, content in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def pages() -> dict[str, str]:
    """The Markdown of every page of the reference, by file name."""
    rows = [f"| [{topic.title}]({topic.file}.md) | {topic.sentence} |" for topic in TOPICS]
    head = "Every public name, by topic. Names are imported from the package that heads its part."
    index = ["# Reference", "", head, "", "| topic | what it holds |", "|---|---|", *rows, ""]
    return {"index": "\n".join(index)} | {topic.file: page(topic) for topic in TOPICS}


def page(topic: Topic) -> str:
    """One topic: its names by first sentence, then each with signature, types and docstring."""
    lines = [f"# {topic.title}", "", topic.sentence, ""]
    entries: list[str] = []
    for package, names in parts(topic):
        lines += [f"From `{package}`:", "", "| name | what it is |", "|---|---|"]
        for name in names:
            value = found_in(package, name)
            if isinstance(value, MissingExtra):
                lines.append(f"| `{name}` | not shown, since an extra was missing: {value} |")
                continue
            path = f"{value.__module__}.{value.__qualname__}"
            lines.append(f"| [`{name}`][{path}] | {first_sentence(value)} |")
            entries += [*anchors(package, name, value), f"::: {path}"]
            entries += [*options(name in topic.whole), ""]
        lines.append("")
    return "\n".join([*lines, *entries])


def parts(topic: Topic) -> list[tuple[str, list[str]]]:
    """Each package of a topic with the names to show: classes and functions, no constants."""
    found: dict[str, list[str]] = {}
    for source in topic.sources:
        package, _, chosen = source.partition(":")
        module = importlib.import_module(package)
        for name in chosen.split() or module.__all__:
            value = found_in(package, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(shown_as(package, name, value), []).append(name)
            elif isinstance(value, MissingExtra):
                found.setdefault(package, []).append(name)
    return list(found.items())


def found_in(package: str, name: str) -> Any:
    """What a package exports under a name, or the error that says which extra it needs."""
    try:
        return getattr(importlib.import_module(package), name)
    except MissingExtra as error:
        return error


def shown_as(package: str, name: str, value: Any) -> str:
    """The shortest package from which users can import a name."""
    outer = importlib.import_module(package.partition(".")[0])
    return outer.__name__ if getattr(outer, name, None) is value else package


def anchors(package: str, name: str, value: Any) -> list[str]:
    """Marks for the other addresses of a name, which types in signatures may use."""
    home, inner = value.__module__, value.__module__
    found = {f"{package}.{name}"}
    while "." in inner:
        inner = inner.rpartition(".")[0]
        if getattr(importlib.import_module(inner), name, None) is value:
            found.add(f"{inner}.{name}")
    return [f"[](){{#{path}}}" for path in sorted(found - {f"{home}.{name}"})]


def options(whole: bool) -> list[str]:
    return ["    options:", "      inherited_members: true"] if whole else []


def first_sentence(value: Any) -> str:
    """The first paragraph, fit for a cell: a bar ends a cell, but not inside a code span."""
    text = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    pieces = text.split("`")
    pieces[::2] = [piece.replace("|", "\\|") for piece in pieces[::2]]
    return "`".join(pieces)
