"""What holds for all metrics of a call, bound to them, as evaluate and its relatives take it."""

from skrank_metrics.metrics import get_metrics

POLICIES = ("ties", "replace_undefined_by")
DEFAULT = ("ndcg@10", "map", "mrr")


def with_policies(metrics=DEFAULT, **options):
    """Arguments of evaluate: the metrics with the policies among the options, and the other options."""
    policies = {name: options.pop(name) for name in POLICIES if name in options}
    if policies:
        several = isinstance(metrics, list | tuple)
        names = metrics if several else [metrics]
        metrics = get_metrics(*names, convention=options.get("convention", "sklearn"), **policies)
    return {"metrics": metrics, **options}
