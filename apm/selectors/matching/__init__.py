"""Approximate posterior matching: how near is a candidate's input to the best one?

`apm` is the selector and `terms` its two halves; `views` say through which channel a candidate is
seen, `messages` what has to be decoded, `effective_channel` what is left of the channel then
(`explained_variance`, `input_noise`), `target` the input that achieves capacity.
"""
