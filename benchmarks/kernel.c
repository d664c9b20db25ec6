/* NDCG@k with linear gain as a plain loop: the best k scores and the best k labels of each query by insertion. */
#include <stddef.h>

double mean_ndcg(const double *labels, const double *scores, const ptrdiff_t *starts, ptrdiff_t n_queries, int k,
                 const double *weights)
{
    double total = 0.0;
    for (ptrdiff_t q = 0; q < n_queries; q++) {
        double top_score[64], top_label[64], best_label[64];
        int n_top = 0, n_best = 0;
        for (ptrdiff_t i = starts[q]; i < starts[q + 1]; i++) {
            if (n_top < k || scores[i] > top_score[n_top - 1]) {
                int j = n_top < k ? n_top++ : k - 1;
                for (; j > 0 && top_score[j - 1] < scores[i]; j--) {
                    top_score[j] = top_score[j - 1];
                    top_label[j] = top_label[j - 1];
                }
                top_score[j] = scores[i];
                top_label[j] = labels[i];
            }
            if (n_best < k || labels[i] > best_label[n_best - 1]) {
                int j = n_best < k ? n_best++ : k - 1;
                for (; j > 0 && best_label[j - 1] < labels[i]; j--)
                    best_label[j] = best_label[j - 1];
                best_label[j] = labels[i];
            }
        }
        double dcg = 0.0, ideal = 0.0;
        for (int j = 0; j < n_top; j++) {
            dcg += top_label[j] * weights[j];
            ideal += best_label[j] * weights[j];
        }
        total += ideal > 0.0 ? dcg / ideal : 0.0;
    }
    return total / n_queries;
}
