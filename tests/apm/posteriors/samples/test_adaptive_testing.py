"""Item banks: figures of catsim for probabilities, Fisher information and estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm import APM, Belief, FixedPower, Grid, InformationGain, NonLinear
from channelcode import Lapse, Logistic, UnknownGuess
from channelcode.information.fisher import fisher_information
from tests.apm.posteriors.samples.models import GOLDEN

BANKS = ["2pl", "3pl_common", "3pl_varied"]
ABILITIES = np.linspace(-5.0, 5.0, 201)


def inputs(theta: Any, items: Any) -> Any:
    return items[:, :1] * (theta[:, 0] - items[:, 1:2])


def inputs_and_guess(theta: Any, items: Any) -> Any:
    l = inputs(theta, items)
    return np.stack([l, np.broadcast_to(items[:, 2:], l.shape)], axis=2)


def bank(name: str) -> tuple[Grid, np.ndarray, dict[str, Any]]:
    figures = GOLDEN["B_cat"][name]
    items = np.array(figures["items_abc"])
    prior = np.exp(-0.5 * ABILITIES**2)
    if name == "3pl_varied":
        channel: Any = UnknownGuess(Logistic())
        return Grid([ABILITIES], channel, NonLinear(inputs_and_guess, 1), prior), items, figures
    channel = Lapse(Logistic(), low=float(items[0, 2]))
    return Grid([ABILITIES], channel, NonLinear(inputs, 1), prior), items, figures


@pytest.mark.parametrize("name", BANKS)
def test_estimates_of_catsim(name):
    grid, items, figures = bank(name)
    belief = Belief(grid)
    asked: list[int] = []
    for step, (item, answer) in enumerate(zip(figures["mfi_picks"], figures["responses"])):
        gain = belief.information_gain(items) * np.log(2.0)
        gain[asked] = -np.inf
        assert int(np.argmax(gain)) == figures["gain_picks_at_the_same_states"][step]
        assert gain.max() == pytest.approx(figures["gain_best_nats"][step], abs=1e-10)
        (pick,) = InformationGain().select(belief, items, exclude=asked)
        assert pick == int(np.argmax(gain))
        asked.append(item)
        belief = belief.update(items[item], answer)
        assert belief.posterior.mean[0] == pytest.approx(figures["eap_after"][step], abs=1e-10)
        deviation = np.sqrt(belief.posterior.covariance[0, 0])
        assert deviation == pytest.approx(figures["sd_after"][step], abs=1e-10)


@pytest.mark.parametrize("name", BANKS)
def test_probabilities_and_fisher_information_of_catsim(name):
    grid, items, figures = bank(name)
    for kind in ("icc", "fisher"):
        part = figures[kind]
        chosen = items[part["items"]]
        theta = np.array(part["theta"])[:, None]
        l = inputs(theta, chosen).T  # (abilities, items)
        if kind == "icc":
            found = grid.channel.prob(grid.encoder.inputs(theta, chosen))[..., 1].T
        else:
            links = [Lapse(Logistic(), low=float(c)) for c in chosen[:, 2]]
            columns = [fisher_information(link, l[:, j]) for j, link in enumerate(links)]
            found = np.stack(columns, axis=1) * chosen[:, 0] ** 2
        np.testing.assert_allclose(found, part["values"], atol=1e-10)


def test_distances_to_the_target_on_a_bank_with_one_guess_rate():
    grid, items, figures = bank("3pl_common")
    case = next(each for each in GOLDEN["B_apm"] if each["budget"].startswith("fixed"))
    told = slice(0, case["after"])
    belief = Belief(grid)
    if case["after"]:
        rows = items[figures["mfi_picks"][told]]
        belief = belief.update(rows, figures["responses"][told])
    scores = APM(FixedPower(case["power"])).scores(belief, items)
    # the target's atoms are certified to about 1e-6 bits, which moves them by up to 1e-3
    np.testing.assert_allclose(-scores[:20], case["w2_squared_first_20"], rtol=5e-3)
    scores[case["excluded"]] = -np.inf
    assert int(np.argmax(scores)) == case["pick"]


@pytest.mark.slow
def test_information_gain_measures_as_well_as_maximum_information():
    """Sixty simulated persons, 30 items: posterior deviations, which vary less than errors."""
    grid, items, _ = bank("3pl_varied")
    a, b, c = items.T
    deviations: dict[str, list[float]] = {"gain": [], "maximum": []}
    for person in range(60):
        ability = float(np.random.default_rng(person).normal())
        for rule, found in deviations.items():
            rng = np.random.default_rng([person, 1])
            belief, asked = Belief(grid), []
            for _ in range(30):
                if rule == "gain":
                    scores = belief.information_gain(items)
                else:
                    right = 1 / (1 + np.exp(-a * (belief.posterior.mean[0] - b)))
                    scores = a**2 * right**2 * (1 - right) * (1 - c) / (c + (1 - c) * right)
                scores[asked] = -np.inf
                item = int(np.argmax(scores))
                right = 1 / (1 + np.exp(-a[item] * (ability - b[item])))
                answer = int(rng.random() < c[item] + (1 - c[item]) * right)
                belief = belief.update(items[item], answer)
                asked.append(item)
            found.append(float(np.sqrt(belief.posterior.covariance[0, 0])))
    # the two differ by a hundredth either way from bank to bank and person to person
    assert np.mean(deviations["gain"]) < 1.02 * np.mean(deviations["maximum"])
