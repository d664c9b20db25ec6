"use strict";

// The arithmetic of the playground: ranking metrics of one query, with the terms of their sums. A classic script, as
// browsers refuse to load modules from file://.
const rankingMetrics = (() => {
  const GAINS = { linear: (label) => label, exp2: (label) => 2 ** label - 1 };
  const DISCOUNTS = { log2: (rank) => Math.log2(rank + 1), reciprocal: (rank) => rank };
  const MAX_GRADE = 4;

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const times = (a, b) => a.map((value, i) => value * b[i]);
  const divide = (a, b) => a.map((value, i) => value / b[i]);

  const WITHIN_TIES = {
    average: () => 0,
    stable: () => 0,
    best: (a, b) => b.label - a.label,
    worst: (a, b) => a.label - b.label,
  };

  /** The documents, each with a label and a score, in ranked order. Array.sort keeps the order of equal elements. */
  function rankDocuments(documents, ties) {
    return [...documents].sort((a, b) => b.score - a.score || WITHIN_TIES[ties](a, b));
  }

  /** Ranges [start, end) of documents whose order is open: all with equal scores if ties are averaged, else single. */
  function openGroups(ranked, ties) {
    const groups = [];
    ranked.forEach((item, i) => {
      const tied = ties === "average" && i > 0 && item.score === ranked[i - 1].score;
      if (tied) groups.at(-1)[1] = i + 1;
      else groups.push([i, i + 1]);
    });
    return groups;
  }

  /** Replace each gain by the mean of its group, which makes a weighted sum over ranks its expectation. */
  function meanGains(gains, groups) {
    return groups.flatMap(([start, end]) => {
      const mean = sum(gains.slice(start, end)) / (end - start);
      return Array(end - start).fill(mean);
    });
  }

  /**
   * Q_0, ..., Q_t of a group of t documents in random order: the probability to be still reading after j of them, which
   * is the mean over its subsets of j documents of the product of 1 - stop. One document is added at a time.
   */
  function stillReading(stops) {
    const q = [1];
    stops.forEach((stop, m) => {
      q.push(0);
      for (let j = m + 1; j > 0; j--) q[j] = ((m + 1 - j) * q[j] + j * (1 - stop) * q[j - 1]) / (m + 1);
    });
    return q;
  }

  /** Expected probabilities that the reader reaches each rank, and stops there. */
  function cascade(stops, groups) {
    const reached = [];
    const stopped = [];
    let here = 1;
    for (const [start, end] of groups) {
      const q = stillReading(stops.slice(start, end));
      for (let j = 0; j < end - start; j++) {
        reached.push(here * q[j]);
        stopped.push(here * (q[j] - q[j + 1]));
      }
      here *= q[end - start];
    }
    return { reached, stopped };
  }

  /** E[rel_i * hits up to and including i], the numerators of precision at the ranks of relevant documents. */
  function hitProducts(relevant, groups) {
    let before = 0;
    return groups.flatMap(([start, end]) => {
      const t = end - start;
      const r = sum(relevant.slice(start, end));
      const products = Array.from({ length: t }, (_, j) => {
        const others = t > 1 ? (j * (r - 1)) / (t - 1) : 0;
        return (r / t) * (before + 1 + others);
      });
      before += r;
      return products;
    });
  }

  /** For each rank, the documents below with a larger label; a pair of open order counts 1/2, at its first rank. */
  function inversions(labels, groups) {
    return groups.flatMap(([start, end]) =>
      labels.slice(start, end).map((label, j) => {
        const tied = labels.slice(start + j + 1, end).filter((other) => other !== label).length;
        return tied / 2 + labels.slice(end).filter((other) => other > label).length;
      }),
    );
  }

  /** What the metrics see: labels in ranked order, the ranks up to the cutoff, and which order is open. */
  function makeList(documents, { ties, k }) {
    const ranked = rankDocuments(documents, ties);
    const labels = ranked.map((item) => item.label);
    const relevant = labels.map((label) => (label > 0 ? 1 : 0));
    const depth = Math.min(k ?? labels.length, labels.length);
    return {
      labels,
      relevant,
      groups: openGroups(ranked, ties),
      ranks: Array.from({ length: depth }, (_, i) => i + 1),
      k: k ?? labels.length,
      nRelevant: sum(relevant),
      top: (values) => values.slice(0, depth),
    };
  }

  function discountedGain(list, { gain, discount }) {
    const gains = list.top(meanGains(list.labels.map(GAINS[gain]), list.groups));
    const discounts = list.ranks.map(DISCOUNTS[discount]);
    return { columns: { gain: gains, discount: discounts }, terms: divide(gains, discounts), divisor: 1 };
  }

  function normalisedGain(list, options) {
    const { columns, terms } = discountedGain(list, options);
    const gains = list.labels.map(GAINS[options.gain]).sort((a, b) => b - a);
    const ideal = divide(list.top(gains), columns.discount);
    return { columns: { ...columns, ideal }, terms, divisor: sum(ideal) };
  }

  function reciprocalRank(list, stops) {
    const { reached, stopped } = cascade(stops, list.groups);
    const reciprocals = list.ranks.map((rank) => 1 / rank);
    return {
      columns: { reached: list.top(reached), stopped: list.top(stopped), reciprocal: reciprocals },
      terms: times(list.top(stopped), reciprocals),
      divisor: 1,
    };
  }

  function shareOfHits(list, divisor) {
    return { columns: {}, terms: list.top(meanGains(list.relevant, list.groups)), divisor };
  }

  // Each gives the terms of its sum over ranks, the columns that they are made of, and what the sum is divided by.
  const METRICS = {
    ndcg: normalisedGain,
    dcg: discountedGain,
    map(list) {
      const products = list.top(hitProducts(list.relevant, list.groups));
      return {
        columns: { products },
        terms: divide(products, list.ranks),
        divisor: Math.min(list.k, list.nRelevant),
      };
    },
    mrr: (list) => reciprocalRank(list, list.relevant),
    err: (list) => reciprocalRank(list, list.labels.map((label) => GAINS.exp2(label) / 2 ** MAX_GRADE)),
    rbp(list, { p }) {
      const relevance = list.top(meanGains(list.relevant, list.groups));
      const weights = list.ranks.map((rank) => (1 - p) * p ** (rank - 1));
      return { columns: { relevance, weight: weights }, terms: times(relevance, weights), divisor: 1 };
    },
    precision: (list) => shareOfHits(list, list.k),
    recall: (list) => shareOfHits(list, list.nRelevant),
    kendall: (list) => ({ columns: {}, terms: inversions(list.labels, list.groups), divisor: 1 }),
  };

  // NDCG of an ideal order must not exceed 1 in the last digit.
  const valueOf = ({ terms, divisor }, name) =>
    name === "ndcg" ? Math.min(sum(terms) / divisor, 1) : sum(terms) / divisor;

  /**
   * All metrics of a list of documents with the options gain, discount, k (null: the whole list), ties and p, the
   * persistence of RBP. Without a relevant document, all but the Kendall distance are undefined: NaN.
   */
  function evaluate(documents, options) {
    const list = makeList(documents, options);
    const results = {};
    for (const [name, metric] of Object.entries(METRICS)) {
      const parts = metric(list, options);
      const undefinedHere = name !== "kendall" && list.nRelevant === 0;
      results[name] = { ...parts, value: undefinedHere ? NaN : valueOf(parts, name) };
    }
    return results;
  }

  return { evaluate, rankDocuments };
})();
