"""A tree as a treelite model, which Triton's forest back end, RAPIDS and treelite's own predictors read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.errors import MissingPackageError
from streed.export.sklearn import to_sklearn

if TYPE_CHECKING:
    from treelite import Model


def to_treelite(model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Model:
    """The tree of `model` as treelite's ensemble of one tree: a tree, a result or a fitted estimator.

    It reads `codes(model, X)`, as the estimator of `to_sklearn` does, in float64, and gives what that one gives: the
    number of a regression, else the probabilities of the classes in their sorted order, as `X`, `y` and
    `sample_weight` make them. Raises what `to_sklearn` raises, and MissingPackageError without treelite.
    """
    try:
        from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation
    except ModuleNotFoundError:
        raise MissingPackageError('to_treelite needs treelite: pip install "streed[treelite]"') from None
    exported: Any = to_sklearn(model, X, y, sample_weight=sample_weight)
    estimator = exported[-1] if hasattr(exported, "steps") else exported
    tree = estimator.tree_
    is_classifier = hasattr(estimator, "classes_")
    width = len(estimator.classes_) if is_classifier else 1
    builder: Any = ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=Metadata(
            num_feature=max(estimator.n_features_in_, 1),
            task_type="kMultiClf" if is_classifier else "kRegressor",
            average_tree_output=False,
            num_target=1,
            num_class=[width],
            leaf_vector_shape=(1, width),
        ),
        tree_annotation=TreeAnnotation(num_tree=1, target_id=[0], class_id=[-1 if width > 1 else 0]),
        postprocessor=PostProcessorFunc(name="identity_multiclass" if is_classifier else "identity"),
        base_scores=[0.0] * width,
    )
    builder.start_tree()
    for place in range(tree.node_count):
        builder.start_node(place)
        left, right = int(tree.children_left[place]), int(tree.children_right[place])
        if left < 0:
            held = tree.value[place, 0].tolist()
            builder.leaf(held if width > 1 else held[0])
        else:
            builder.numerical_test(
                feature_id=int(tree.feature[place]),
                threshold=float(tree.threshold[place]),
                default_left=bool(tree.missing_go_to_left[place]),
                opname="<=",
                left_child_key=left,
                right_child_key=right,
            )
        builder.end_node()
    builder.end_tree()
    built: Model = builder.commit()
    return built
