"""Caption, retrieval and recognition metrics: pure functions over plain Python values, used in training and evaluation.

Contains BLEU-1..4, ROUGE-L and the forms of CIDEr over tokenised captions (``score_captions``), the tokeniser of published
figures, METEOR and SPICE through their jars; lengths and hallucinated objects of captions (docs/metrics.md); recall at k, word
and character error rates, and bootstrap intervals. Models and file access are not in scope.
"""
