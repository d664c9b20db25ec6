"""Everything that a comparison says in words and tables, once more, plainly.

Numbers of tests come from the methods of the comparison, which are held against another reference
(``decisions.py``); all else from the values of its reports. ``first`` is about the metric that comes first.
"""

import math

import numpy as np

from support.decisions import ratio_error

VERDICTS = ("better", "not worse", "worse", "undecided")
TESTS = {"permutation": "paired permutation test", "t": "paired t-test"}
EXPLANATION = (
    "p: how likely a gap this large is between equal rankings. Rankings that share a letter are not "
    "significantly different. regret: the most that choosing a ranking loses."
)
HEALTH = {
    "Ties": "tied scores",
    "Constant scores": "queries with equal scores only",
    "Unjudged": "returned documents that nobody judged",
}


# Words


def in_a_row(names, word="and"):
    names = list(names)
    if len(names) == 1:
        return names[0]
    has_comma = any(", " in name for name in names)
    front = ("; " if has_comma else ", ").join(names[:-1])
    return f"{front} {word} {names[-1]}"


def named(names, word="and"):
    names = list(names)
    if len(names) > 4:
        n_more = len(names) - 3
        names = [*names[:3], f"{n_more} others"]
    return in_a_row(names, word)


def are(names):
    verb = "is" if len(names) == 1 else "are"
    return f"{named(names)} {verb}"


def of_queries(n):
    return "1 query" if n == 1 else f"{n} queries"


def comparisons(n):
    return "1 comparison" if n == 1 else f"{n} comparisons"


def number(value, sign=""):
    return f"{value:{sign}z.4f}"


def ends(interval, sign=""):
    texts = []
    for end in interval:
        if math.isnan(end):
            return "none"
        if end != 0 and abs(end) < 0.00005:
            texts.append(">0" if end > 0 else "<0")
        else:
            texts.append(number(end, sign))
    return f"[{texts[0]}, {texts[1]}]"


def p_text(p):
    if math.isnan(p):
        return "none"
    return "<0.0001" if p < 0.00005 else number(p)


# One metric


class Facts:
    """What is known by one metric, of a comparison or a slice of one."""

    def __init__(self, comparison, metric, bounds):
        view = comparison.by_metric(metric)
        self.view = view
        self.metric = metric
        self.plan = comparison.plan
        self.level = round(1 - self.plan.confidence, 12)
        self.larger = comparison.reports[comparison.names[0]].metrics[metric].greater_is_better
        self.tested = view.tested
        self.means = view.means()
        self.ranked = list(self.means)
        self.rows = view.standings()
        self.margin = self.plan.margin
        if isinstance(self.margin, dict):
            self.margin = self.margin[metric]
        self.baselines = [] if self.plan.baseline is None else self.plan.baseline
        if isinstance(self.baselines, str):
            self.baselines = [self.baselines]
        self.of_reports(comparison, bounds)
        if self.tested:
            self.best_set = [name for name in self.ranked if name in view.best_set]

    def of_reports(self, comparison, bounds):
        reports = [comparison.reports[name] for name in self.ranked]
        values = np.array([report.per_query[self.metric] for report in reports]).T
        undefined = np.isnan(values).any(axis=1)
        weights = reports[0].weights
        self.weights = np.ones(len(values)) if weights is None else weights
        self.used = ~undefined & (self.weights > 0)
        self.n_counted = int(self.used.sum())
        self.n_undefined = int(undefined.sum())
        self.values = values[self.used]
        self.weights = self.weights[self.used]
        self.check_means(reports)
        self.units = reports[0].qid if reports[0].groups is None else reports[0].groups
        self.units = np.asarray(self.units)[self.used]
        self.has_groups = reports[0].groups is not None
        self.folds = None if reports[0].folds is None else reports[0].folds[self.used]
        # From the best value of all to the worst that is possible.
        if not self.n_counted:
            self.largest_loss = math.nan
        elif self.larger:
            self.largest_loss = self.values.max() - min(bounds[0], self.values.min())
        else:
            self.largest_loss = max(bounds[1], self.values.max()) - self.values.min()

    def check_means(self, reports):
        """Means are over the queries that count; other averages are those of the reports."""
        expected = [report.mean[self.metric] for report in reports]
        if self.tested:
            expected = np.average(self.values, axis=0, weights=self.weights)
        np.testing.assert_allclose(list(self.means.values()), expected, rtol=1e-9)
        ascending = expected if not self.larger else expected[::-1]
        assert (np.diff(ascending) >= -1e-9).all() or np.isnan(ascending).any()

    @property
    def accepts_any_loss(self):
        return self.margin is not None and self.largest_loss <= self.margin

    @property
    def n_pairs(self):
        n = len(self.ranked)
        n_baselines = len(self.baselines)
        if n_baselines:
            return n_baselines * (n - n_baselines)
        return n * (n - 1) // 2

    def with_status(self, status):
        return [row.name for row in self.rows if row.status == status]

    def better_than(self, name):
        """Rankings that are significantly better than another, without baselines."""
        others = [other for other in self.ranked if other != name]
        pairs = {other: self.view.pair(other, name) for other in others}
        return [other for other, pair in pairs.items() if pair.verdict == "better"]

    def wins(self):
        """Numbers of queries that the first and the second of two rankings win."""
        lead = self.values[:, 0] - self.values[:, 1]
        lead = lead if self.larger else -lead
        is_tied = np.isclose(self.values[:, 0], self.values[:, 1], rtol=1e-12, atol=0)
        lead = lead[~is_tied]
        n_won = (lead > 0).sum()
        n_lost = (lead < 0).sum()
        return int(n_won), int(n_lost)

    def fits_vary(self):
        """Whether the means of folds vary more than queries explain, over all pairs."""
        over_queries = []
        over_folds = []
        for i in range(len(self.ranked)):
            for j in range(i):
                d = self.weights * (self.values[:, i] - self.values[:, j])
                for codes, found in ((self.units, over_queries), (self.folds, over_folds)):
                    kinds = sorted(set(codes.tolist()))
                    sums = np.array([d[codes == kind].sum() for kind in kinds])
                    masses = np.array([self.weights[codes == kind].sum() for kind in kinds])
                    found.append(ratio_error(sums, masses) ** 2 if len(kinds) > 1 else 0.0)
        return len(set(self.folds.tolist())) > 1 and np.mean(over_folds) > np.mean(over_queries)

    def can_reject(self):
        """Whether, in some pair, so many units differ that a test would reject if all had the same sign."""
        kinds = sorted(set(self.units.tolist()))
        masses = np.array([self.weights[self.units == kind].sum() for kind in kinds])
        for i in range(len(self.ranked)):
            for j in range(i):
                one = self.values[:, i]
                other = self.values[:, j]
                d = np.where(np.isclose(one, other, rtol=1e-12, atol=0), 0, one - other)
                sums = np.array([(self.weights * d)[self.units == kind].sum() for kind in kinds])
                n_changed = (abs(sums) > 1e-14 * masses).sum()
                varies = len(kinds) > 1 and ratio_error(sums, masses) > 1e-9
                if self.plan.test == "t" and varies:
                    return True
                if 2.0 ** (1 - n_changed) <= self.level:
                    return True
        return False

    def folds_won(self, name):
        """Folds in which a ranking alone has the best mean."""
        won = 0
        for fold in set(self.folds.tolist()):
            own = self.folds == fold
            means = np.average(self.values[own], axis=0, weights=self.weights[own])
            means = means if self.larger else -means
            is_best = np.isclose(means, means.max(), rtol=1e-12, atol=0)
            won += is_best.sum() == 1 and self.ranked[int(np.argmax(is_best))] == name
        return int(won)


def all_facts(comparison, bounds):
    return [Facts(comparison, metric, bounds[metric]) for metric in comparison.metrics]


# Verdict


def decisions(facts):
    """The decision on each ranking by all metrics."""
    found = {}
    for name in facts[0].ranked:
        if not facts[0].baselines:
            passes = [own.view.regret[name] <= own.margin < own.largest_loss for own in facts]
            found[name] = "ship" if all(passes) else "undecided"
        elif name not in facts[0].baselines:
            statuses = [row.status for own in facts for row in own.rows if row.name == name]
            found[name] = "ship"
            for status, decision in (("undecided", "undecided"), ("worse", "do not ship")):
                if status in statuses:
                    found[name] = decision
    return found


def grouped(claims):
    """Metrics by their claim, in the order of the first one."""
    found = {}
    for metric, claim in claims:
        if claim:
            found.setdefault(claim, []).append(metric)
    return found


def verdict(facts):
    first = facts[0]
    if len(first.ranked) == 1:
        return ""
    if not first.tested:
        why = "which is not a mean over queries and cannot be tested."
        best = [name for name, mean in first.means.items() if mean == first.means[first.ranked[0]]]
        leader = best[0] if len(best) == 1 else "No ranking alone"
        return f"{leader} is ahead by {first.metric}, {why}"
    tested = [own for own in facts if own.tested]
    return " ".join(beside_baselines(tested) if first.baselines else about_the_best(tested))


def about_the_best(facts):
    first = facts[0]
    sentences = []
    if first.margin is not None:
        sentences += release_of_the_best(facts)
    leader = first.ranked[0]
    worse = [name for name in first.ranked if name not in first.best_set]
    confidence = f"{100 * first.plan.confidence:g}% confidence"
    if not worse:
        text = f"{named(first.ranked)} cannot be told apart on {of_queries(first.n_counted)}"
        sentences.append(f"By {first.metric}, {text}." if len(facts) > 1 else f"{text}.")
    else:
        text = best(first)
        text = (
            f"By {first.metric}, {text} ({confidence})"
            if len(facts) > 1
            else f"With {confidence}, {text}"
        )
        if len(first.best_set) > 1:
            text += f"; {leader} leads. {are(worse)} worse"
        sentences.append(f"{text}.")
    claims = []
    for own in facts[1:]:
        claim = ""
        if own.better_than(leader):
            claim = f"{are(own.better_than(leader))} better than {leader}"
        elif not worse and len(own.best_set) < len(own.ranked):
            claim = best(own)
        claims.append((own.metric, claim))
    for claim, metrics in grouped(claims).items():
        sentences.append(f"By {in_a_row(metrics)}, {claim}.")
    return sentences


def best(own):
    if len(own.best_set) == 1:
        return f"{own.best_set[0]} is best"
    return f"the best is {named(own.best_set, 'or')}"


def release_of_the_best(facts):
    found = decisions(facts)
    good = [name for name in facts[0].ranked if found[name] == "ship"]
    margins = []
    for own in facts:
        if f"{own.margin:g}" not in margins:
            margins.append(f"{own.margin:g}")
    within = f"at most {in_a_row(margins)} worse than the best"
    if good:
        return [f"Ship {named(good, 'or')}: {within}."]
    sentences = [f"Do not ship yet: no ranking is known to be {within}."]
    return sentences + [accepts_any_loss(own) for own in facts if own.accepts_any_loss]


def accepts_any_loss(own):
    loss = f"no query can lose more than {own.largest_loss:.4g}."
    return f"A margin of {own.margin:g} accepts any loss of {own.metric}: {loss}"


def beside_baselines(facts):
    first = facts[0]
    sentences = []
    found = decisions(facts) if first.margin is not None else {}
    texts = {"ship": "Ship {}.", "do not ship": "Do not ship {}."}
    texts["undecided"] = "Do not ship {} yet."
    for decision, text in texts.items():
        names = [name for name in first.ranked if found.get(name) == decision]
        if names:
            sentences.append(text.format(named(names, "or")))
    confidence = f"{100 * first.plan.confidence:g}% confidence"
    for claim, metrics in grouped([(own.metric, known(own)) for own in facts]).items():
        if len(facts) > 1:
            sentences.append(f"By {in_a_row(metrics)}, {claim} ({confidence}).")
        else:
            sentences.append(f"With {confidence}, {claim}.")
    for own in facts:
        names = own.with_status("undecided")
        if first.margin is None and own is not first:
            continue
        if first.margin is not None:
            names = [name for name in names if found[name] == "undecided"]
        if names:
            sentences.append(undecided(own, names, several=len(facts) > 1))
    return sentences


def one_baseline(own):
    if len(own.baselines) == 1:
        return own.baselines[0]
    return f"at least one of {named(own.baselines)}"


def known(own):
    claims = []
    more = f" by more than {own.margin:g}" if own.margin else ""
    names = own.with_status("better")
    if names:
        claims.append(f"{are(names)} better than {named(own.baselines)}")
    names = own.with_status("not worse")
    if names:
        claims.append(f"{are(names)} not worse than {named(own.baselines)}{more}")
    names = own.with_status("worse")
    if names:
        is_clear = claims and len(own.baselines) == 1
        claims.append(f"{are(names)} worse" + ("" if is_clear else f" than {one_baseline(own)}"))
    return "; ".join(claims)


def undecided(own, names, *, several):
    start = f"By {own.metric}, " if several else ""
    queries = of_queries(own.n_counted)
    if own.margin is None:
        return f"{start}{named(names)} cannot be told apart from {one_baseline(own)} on {queries}."
    if own.accepts_any_loss:
        return accepts_any_loss(own)
    more = f" by more than {own.margin:g}" if own.margin else ""
    worse = f"{are(names)} worse than {one_baseline(own)}{more}"
    return f"{start}{queries} cannot show whether {worse}."


# Tables


def table_of_rankings(facts):
    first, *others = facts
    heads = ["", first.metric]
    if first.tested:
        heads += heads_of_test(first)
    heads += [own.metric for own in others]
    rows = []
    for row in first.rows:
        cells = [row.name, number(row.mean)]
        if first.tested:
            cells += cells_of_test(first, row)
        for own in others:
            mark = "*" if row.name in leads_instead(own, first) else ""
            cells.append(mark + number(own.means[row.name]))
        rows.append(cells)
    return [heads, *rows]


def leads_instead(own, first):
    """All rankings that lead by another metric, unless that of the first metric is among them."""
    means = own.means.values()
    top = max(means) if own.larger else min(means)
    leaders = [name for name, mean in own.means.items() if mean == top]
    return [] if first.ranked[0] in leaders else leaders


def heads_of_test(first):
    interval = f"{100 * first.plan.confidence:g}% interval"
    if not first.baselines:
        is_leader = all(row.rival == first.ranked[0] for row in first.rows[1:])
        return ["behind leader" if is_leader else "behind", interval, "status"]
    if len(first.baselines) > 1:
        return ["minus baseline", "baseline", interval, "status"]
    (baseline,) = first.baselines
    return [f"minus {baseline if len(baseline) <= 16 else 'baseline'}", interval, "status"]


def cells_of_test(first, row):
    low, high = row.interval
    if row.name in first.baselines:
        return ["", "", "", row.status] if len(first.baselines) > 1 else ["", "", row.status]
    if first.baselines:
        rival = [row.rival] if len(first.baselines) > 1 else []
        return [number(row.difference, "+"), *rival, ends(row.interval, "+"), row.status]
    status = row.status
    if status == "worse" and row.rival != first.ranked[0]:
        status = f"worse than {row.rival}"
    if row.name == first.ranked[0]:
        return ["", "", status]
    if first.larger:
        return [number(-row.difference), ends((-high, -low)), status]
    return [number(row.difference), ends(row.interval), status]


def table_of_details(own):
    letters = own.view.letters
    rows = []
    for row in own.rows:
        p = "" if math.isnan(row.p_value) else p_text(row.p_value)
        cells = [row.name, number(row.mean), p, letters[row.name], number(row.regret), row.status]
        rows.append(cells)
    return [["", own.metric, "p", "letters", "regret", "status"], *rows]


# Slices


def name_of_slice(value):
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join("missing" if one is None else str(one) for one in values)


def table_of_slices(comparison, bounds):
    """The table and the sentences below it."""
    slices = comparison.slices
    if not slices:
        return [], []
    names = {}
    for value in slices:
        name = name_of_slice(value)
        taken = {"all", *names.values()}
        numbered = [f"{name} ({n})" for n in range(2, len(slices) + 3)]
        names[value] = next(one for one in (name, *numbered) if one not in taken)
    assert list(comparison.named_slices) == list(names.values())
    by_size = sorted(slices, key=lambda value: -slices[value].n_queries)[:20]
    metric = next(iter(slices.values())).metrics[0]
    are_beside = len(comparison.names) <= 5
    heads = comparison.names if are_beside else [f"leader's {metric}"]
    known = "status" if comparison.plan.baseline is not None else "best"
    rows = [["slice", "queries", *heads, known]]
    for value in slices:
        if value in by_size:
            own = Facts(slices[value], metric, bounds[metric])
            shown = comparison.names if are_beside else own.ranked[:1]
            means = [number(own.means[name]) for name in shown]
            rows.append([names[value], str(slices[value].n_queries), *means, of_slice(own)])
    n_tests = comparisons(own.n_pairs * len(slices))
    lines = [f"Slices are compared by {metric}, with {n_tests} tested together."]
    if len(slices) > 20:
        lines.append(f"These are the largest 20 of {len(slices)}; .slices has all.")
    return [rows], lines


def of_slice(own):
    if not own.baselines:
        return named(own.best_set, "or")
    known = [(verdict, own.with_status(verdict)) for verdict in VERDICTS]
    return "; ".join(f"{named(names)} {verdict}" for verdict, names in known if names)


# Notes


def notes(comparison, facts):
    first = facts[0]
    sentences = []
    marked = [own.metric for own in facts[1:] if leads_instead(own, first)]
    if marked:
        sentences.append(f"* leads by {in_a_row(marked)}.")
    queries = of_queries(first.n_counted)
    if first.tested and first.n_undefined:
        text = f"Rankings are compared on {queries} with a value of {first.metric} in each."
        sentences.append(text)
    if first.folds is not None:
        sentences.append(about_folds(first))
    if first.tested:
        sentences += about_queries(first, queries)
    sentences += findings(comparison.reports)
    for own in facts:
        if own.margin:
            sentences.append(f"Margin of {own.metric}: losses below {own.margin:g} do not matter.")
    if first.tested:
        sentences.append(how(first, n_parts=1))
    weights = next(iter(comparison.reports.values())).weights
    if weights is not None:
        n_zero = int((weights == 0).sum())
        zero = f", {of_queries(n_zero)} with weight 0" if n_zero else ""
        sentences.append(f"Weighted by sample_weight{zero}.")
    return sentences


def about_folds(first):
    n_folds = len(set(first.folds.tolist()))
    if not first.tested:
        return f"Cross-validated in {n_folds} folds."
    leader = first.ranked[0]
    text = f"Cross-validated: {leader} is best in {first.folds_won(leader)} of {n_folds} folds."
    if first.fits_vary():
        more = "The folds disagree more than the queries do, so the intervals were widened."
    else:
        more = "The verdict allows for training on other data."
    return f"{text} {more}"


def about_queries(first, queries):
    sentences = []
    shown = first.view.detectable
    if len(first.best_set) > 1 and not math.isnan(shown):
        digits = np.format_float_positional(shown, 2, fractional=False, trim="-")
        sentences.append(f"{queries} can show differences of {digits} or more.")
    if len(first.ranked) == 2:
        one, other = first.ranked
        wins, losses = first.wins()
        sentences.append(f"{one} is better on {wins} of {queries}, {other} on {losses}.")
    if first.has_groups:
        n = len(set(first.units.tolist()))
        groups = "1 group" if n == 1 else f"{n} groups"
        text = f"Queries of a group are not independent, so the tests are over {groups}."
        sentences.append(text)
    return sentences


def findings(reports):
    """First what all reports found, then what some did, and which."""
    of_reports = {name: list(report.health.findings) for name, report in reports.items()}
    first = next(iter(of_reports.values()))
    common = [one for one in first if all(one in own for own in of_reports.values())]
    names = {}
    for name, own in of_reports.items():
        for finding in own:
            if finding not in common:
                kind = HEALTH.get(finding.split(":")[0], finding)
                names.setdefault(kind, {})[name] = None
    sentences = list(common)
    for kind, own in names.items():
        if kind in HEALTH.values():
            have = "has" if len(own) == 1 else "have"
            sentences.append(f"{named(own)} {have} {kind}; see the report of {next(iter(own))}.")
        else:
            sentences.append(f"{named(own)}: {kind}")
    return sentences


def how(first, n_parts):
    if not first.can_reject():
        return (
            "Too few queries differ for a test. Intervals follow from wins and losses, if at all."
        )
    test = TESTS[first.plan.test]
    n = first.n_pairs * n_parts
    if n == 1:
        return f"The interval is from a {test}."
    correction = first.plan.correction
    if correction == "max":
        return f"Intervals are from a {test}, and hold together for {comparisons(n)}."
    if correction is None:
        each = f"each for itself: of {comparisons(n)}, some may be wrong."
        return f"Intervals are from a {test}, {each}"
    whose = {"holm": "Holm", "bh": "Benjamini and Hochberg"}[correction]
    return f"From a {test}, corrected for {comparisons(n)} by {whose}'s method."


# Everything


def brief(comparison):
    n = len(comparison.names)
    rankings = "1 ranking" if n == 1 else f"{n} rankings"
    by = ", ".join(comparison.metrics)
    return f"{rankings} by {by}, {of_queries(comparison.n_queries)}"


def most_important(sentences):
    n_more = len(sentences) - 4
    if n_more <= 0:
        return sentences
    further = "1 further note" if n_more == 1 else f"{n_more} further notes"
    return [*sentences[:4], f"For {further}, see .details()."]


def as_dict(comparison, facts):
    """What is known by ranking and metric, for JSON."""
    found = {name: {} for name in comparison.names}
    for own in facts:
        for row in own.rows:
            numbers = {"mean": row.mean, "difference": row.difference}
            numbers |= {"low": row.interval[0], "high": row.interval[1]}
            entry = {name: one for name, one in numbers.items() if math.isfinite(one)}
            if row.status:
                entry["status"] = row.status
            if len(own.baselines) > 1 and row.name not in own.baselines and own.tested:
                entry["baseline"] = row.rival
            found[row.name][own.metric] = entry
    return found


def as_columns(comparison, facts):
    """Columns of a frame with one row per ranking."""
    names = list(comparison.names)
    columns = {"ranking": names, "n_queries": [comparison.n_queries] * len(names)}
    for own in facts:
        rows = {row.name: row for row in own.rows}
        ends = {}
        for name in names:
            report = comparison.reports[name]
            ends[name] = report.intervals(own.plan.confidence)[own.metric]
        found = {"": own.means, " low": {}, " high": {}}
        for name in names:
            found[" low"][name], found[" high"][name] = ends[name]
        if own.tested:
            found[" difference"] = {name: rows[name].difference for name in names}
            if len(own.baselines) > 1:
                found[" baseline"] = {name: rows[name].rival or None for name in names}
            found[" difference low"] = {name: rows[name].interval[0] for name in names}
            found[" difference high"] = {name: rows[name].interval[1] for name in names}
            found[" p"] = {name: rows[name].p_value for name in names}
            found[" status"] = {name: rows[name].status for name in names}
            found[" regret"] = own.view.regret
            found[" letters"] = own.view.letters
        for end, of_names in found.items():
            columns[f"{own.metric}{end}"] = [of_names[name] for name in names]
    return columns


# Letters


def check_letters(own):
    """Each letter is a set of rankings that are not different, and those of better rankings come first."""
    letters = own.view.letters
    assert list(letters) == own.ranked
    used = sorted(set("".join(letters.values())))
    members = []
    for letter in used:
        places = [place for place, name in enumerate(own.ranked) if letter in letters[name]]
        members.append(places)
    assert members == sorted(members)
    assert used == [chr(ord("a") + place) for place in range(len(used))]
