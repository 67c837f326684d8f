"""Caption, retrieval and recognition metrics: pure functions over plain Python values, used in training and in evaluation.

In scope: BLEU-1..4, ROUGE-L and the CIDErs of tokenised captions (``score_captions``), the tokeniser of the published figures,
METEOR and SPICE by their jars; scene graphs of parsed captions, what captions repeat, how long they are, which objects they
hallucinate (docs/metrics.md); recall at k, word and character error rates, the bootstrap interval of any of these.
"""
