"""cluster: group posts with similar images; posts that fit no cluster are outliers (-1); every post gets a position on a map.

Features of the whole image → the number of principal components that keeps ``variance`` → UMAP to that many
dimensions (or ``dimensions``) → HDBSCAN, repeated on its outliers until few are left. Source: PCV §4.3.2 and §4.3.3. The clusters
serve exploration (PCV §5): duplicates are searched among all posts, not within clusters.
Not in scope: duplicates (``dedup``), plots (``posts_report``).
"""

from __future__ import annotations

from components.core.errors import HearsightError
from components.core.params import Settings, did_you_mean
from components.execution.resources import Accelerator

SUMMARY = "clusters.json"
"""Output file with the numbers of posts, components, dimensions and neighbours, and those of each round."""
METRICS = ("correlation", "cosine", "euclidean")


class Embedding(Settings):
    """Settings of the projection of features to the clustered space."""

    variance: float = 0.95
    """Share (0..1) of the features' variance that the counted principal components keep. PCV §4.3.2: .95."""
    dimensions: int = 0
    """Dimensions of the space; 0 takes the counted components. PCV §4.3.2: those counted, 900."""
    neighbours: int = 80
    """Neighbours of a point in UMAP; with fewer posts, all others. PCV §4.3.2: 80."""
    min_dist: float = 0.0
    """Least distance between points of the space. PCV §4.3.2: 0."""
    metric: str = "correlation"
    """Distance between features, by UMAP's name. PCV §4.3.2: correlation."""
    seed: int = 42
    """Seed of UMAP. PCV's code: 42."""


class Params(Settings):
    """Settings of cluster."""

    mobilenet_v2: str = ""
    """A file of weights of MobileNetV2 (torchvision's names, safetensors or pth), relative to the project; empty for features of
    EfficientNet-lite0, whose weights are at hand. PCV §4.3.2: MobileNetV2."""
    encoder: str = ""
    """Instead of these a model of a hub (its id with the full hash of a commit) or a folder, such as DINOv2 (docs/providers.md);
    empty for none. Ours."""
    accelerator: Accelerator = "cpu"
    """Where mobilenet_v2 or encoder compute: the processor, a GPU in batches of 64, or a GPU where there is one. Ours."""
    embedding: Embedding = Embedding()
    """Settings of the projection."""
    min_cluster_size: int = 200
    """Posts of a cluster, at least. PCV's code: 200."""
    min_samples: int = 10
    """Posts around a core point. PCV's code: 10."""
    max_cluster_size: int = 10_000
    """Posts of a cluster, at most; 0 sets no bound. PCV's code: 10,000."""
    max_outliers: float = 0.11
    """Share (0..1) of outliers at which clustering stops. PCV §4.3.3: "a satisfactory amount"; 60 K of 533 K
    stayed."""
    max_rounds: int = 5
    """Rounds at most. Ours."""

    def check(self, where: str) -> None:
        """Require numbers in their ranges, and a known metric."""
        space = self.embedding
        for name, valid, advice in (
            ("embedding.variance", 0 < space.variance <= 1, "give a share over 0 and up to 1"),
            ("embedding.dimensions", space.dimensions >= 0 and space.dimensions != 1, "give 0, or 2 and more"),
            ("embedding.neighbours", space.neighbours >= 2, "give 2 or more"),
            ("embedding.min_dist", 0 <= space.min_dist <= 1, "give 0 to 1"),
            ("embedding.metric", space.metric in METRICS, did_you_mean(space.metric, METRICS)),
            ("min_cluster_size", self.min_cluster_size >= 2, "give 2 or more"),
            ("min_samples", self.min_samples >= 1, "give 1 or more"),
            ("max_cluster_size", not 0 < self.max_cluster_size < self.min_cluster_size, "give 0, or min_cluster_size or more"),
            ("max_cluster_size", self.max_cluster_size >= 0, "give 0 or more"),
            ("max_outliers", 0 <= self.max_outliers <= 1, "give a share from 0 to 1"),
            ("max_rounds", self.max_rounds >= 1, "give 1 or more"),
        ):
            if not valid:
                raise HearsightError("is out of range", where=f"{where}.{name}", hint=advice)
