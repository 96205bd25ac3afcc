"""Channels by name."""

import json

import numpy as np
import pytest

import channelcode as cc
from apm.cli.channel import CHANNELS, parse_channel

EXAMPLES = {
    "logistic": cc.Logistic(),
    "probit": cc.Probit(),
    "probit:2.5": cc.Probit(2.5),
    "cauchit": cc.Cauchit(),
    "cloglog": cc.Cloglog(),
    "lapse:0.02,0.1": cc.Lapse(cc.Logistic(), low=0.02, high=0.1),
    "softmax:5": cc.Softmax(5),
    "ordinal:-1,1": cc.Ordinal((-1.0, 1.0)),
    "binomial:4": cc.Binomial(4),
    "quantised:-1.5,0,1.5": cc.QuantisedGaussian((-1.5, 0.0, 1.5)),
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.items())
def test_names(text, expected):
    assert parse_channel(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bsc:0.1", cc.BinarySymmetric(0.1)),
        ("bec:0.2", cc.BinaryErasure(0.2)),
        ("z:0.3", cc.ZChannel(0.3)),
    ],
)
def test_finite_names(text, expected):
    channel = parse_channel(text)
    assert type(channel) is type(expected)
    letters = np.asarray(expected.inputs)
    np.testing.assert_array_equal(channel.prob(letters), expected.prob(letters))


def test_every_name_has_an_example():
    tried = {text.split(":")[0] for text in EXAMPLES} | {"bsc", "bec", "z"}
    assert tried == set(CHANNELS)


def test_matrix_files(tmp_path):
    matrix = [[0.9, 0.1], [0.2, 0.8]]
    plain, full = tmp_path / "plain.json", tmp_path / "full.json"
    plain.write_text(json.dumps(matrix))
    full.write_text(json.dumps({"matrix": matrix, "inputs": [-1.0, 1.0]}))
    np.testing.assert_allclose(parse_channel(str(plain)).prob([0, 1]), matrix, rtol=1e-15)
    np.testing.assert_array_equal(parse_channel(str(full)).inputs, [-1.0, 1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("logistc", "did you mean 'logistic'"),
        ("softmax", "takes one whole number"),
        ("softmax:2.5", "takes one whole number"),
        ("softmax:1", "num_classes must be at least 2"),
        ("ordinal:1,x", "must list numbers after the colon"),
        ("ordinal:1,-1", "must be strictly increasing"),
        ("logistic:3", "takes no numbers"),
        ("bsc", "takes one number"),
        ("bsc:1.5", "must lie in"),
        ("lapse:0.1", "takes two numbers"),
        ("probit:1,2", "at most one number"),
        ("missing.json", "must name a readable file"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_channel(text)


def test_broken_files_are_named(tmp_path):
    broken, wrong = tmp_path / "broken.json", tmp_path / "wrong.json"
    broken.write_text("[[0.5,")
    wrong.write_text('{"rows": []}')
    with pytest.raises(ValueError, match="valid JSON"):
        parse_channel(str(broken))
    with pytest.raises(ValueError, match="key 'matrix'"):
        parse_channel(str(wrong))
