"""What training any network of ours shares: the order of batches, Lightning's trainer, checkpoints, the recipe's base.

In: a :class:`~components.training.recipe.TrainingModule` (what a step computes, what an epoch is judged by), its items, a scratch
folder, and the :class:`~components.training.settings.Hardware`. Out: the recipe with its history and best weights. No stage:
``train`` and ``caption`` stand on it. Not in scope: what is trained, and where its results go.
"""
