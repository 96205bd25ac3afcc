"""How posteriors are fitted: the maximum by Newton, for one input or a softmax; fixed points."""
