"""Training code shared by all networks: the order of batches, Lightning's trainer, checkpoints, the base of recipes.

Input: a :class:`~components.training.recipe.TrainingModule` (a training step and the validation of an epoch), its items, a
scratch folder, and the :class:`~components.training.settings.Hardware`. Output: the recipe with its history and best weights. No
stage; the training stages use it. The data and the destination of results are not in scope.
"""
