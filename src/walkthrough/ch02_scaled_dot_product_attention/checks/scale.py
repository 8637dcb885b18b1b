"""The check of chapter 02 on the scale of the scores (§3.2.1)."""

import math

from walkthrough.checking.base import (
    Check,
    Mistake,
    fixed,
)


def _factor(d_k: int, query_std: float, key_std: float) -> float:
    return 1 / (math.sqrt(d_k) * query_std * key_std)


score_scale = Check(
    name="score_scale",
    reference=_factor,
    cases=[
        fixed("d_k = 64, both standard deviations 1", 64, 1.0, 1.0),
        fixed("d_k = 64, standard deviations 2 and 3", 64, 2.0, 3.0),
        fixed("d_k = 16, standard deviations 0.5 and 0.1", 16, 0.5, 0.1),
        fixed("d_k = 20, standard deviations 2 and 0.5", 20, 2.0, 0.5),
    ],
    mistakes=[
        Mistake(
            "ignores the standard deviations",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k),
            "this is the paper's 1/√d_k. It gives variance 1 where all components have standard "
            "deviation 1; here they do not.",
        ),
        Mistake(
            "variances in the place of deviations",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * (query_std * key_std) ** 2),
            "this divides by the variances. A factor on the scores acts on their standard "
            "deviation, which is √d_k · query_std · key_std.",
        ),
        Mistake(
            "divides by the variance",
            lambda d_k, query_std, key_std: 1 / (d_k * (query_std * key_std) ** 2),
            "this divides by the variance of the scores. Dividing by s divides a variance by s²: "
            "take the square root.",
        ),
        Mistake(
            "no root of d_k",
            lambda d_k, query_std, key_std: 1 / (d_k * query_std * key_std),
            "the root of d_k is missing: d_k independent terms multiply the variance by d_k, and "
            "the standard deviation by √d_k.",
        ),
        Mistake(
            "root over everything",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k * query_std * key_std),
            "the root covers the standard deviations too. The variance of one product is "
            "query_std² · key_std²; its root is query_std · key_std.",
        ),
        Mistake(
            "adds the deviations",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * (query_std + key_std)),
            "this adds the standard deviations. The terms of the score are products "
            "q_i · k_i, so the deviations multiply.",
        ),
        Mistake(
            "inverse",
            lambda d_k, query_std, key_std: math.sqrt(d_k) * query_std * key_std,
            "this is the standard deviation of the scores, so 1 over it is the factor asked for.",
        ),
        Mistake(
            "precedence",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k) * query_std * key_std,
            "this *multiplies* by the standard deviations: `1 / a * b` is (1 / a) · b. Put the "
            "whole denominator into brackets.",
        ),
        Mistake(
            "precedence, keys only",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * query_std) * key_std,
            "this multiplies by `key_std`: `1 / a * b` is (1 / a) · b. Put the whole denominator "
            "into brackets.",
        ),
        Mistake(
            "one root too many",
            lambda d_k, query_std, key_std: 1 / math.sqrt(math.sqrt(d_k) * query_std * key_std),
            "there is one root too many: √d_k · query_std · key_std is the standard deviation "
            "already.",
        ),
        Mistake(
            "root of a sum",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k * (query_std**2 + key_std**2)),
            "the two variances are added. The terms of the score are products q_i · k_i, so their "
            "variances multiply.",
        ),
        Mistake(
            "only the keys",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * key_std),
            "this takes account of the keys' standard deviation and leaves out the queries'.",
        ),
        Mistake(
            "no d_k",
            lambda d_k, query_std, key_std: 1 / (query_std * key_std),
            "d_k is missing: a score is a sum of d_k products.",
        ),
        Mistake(
            "only the queries",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * query_std),
            "this takes account of the queries' standard deviation and leaves out the keys'.",
        ),
        Mistake(
            "the variance",
            lambda d_k, query_std, key_std: d_k * (query_std * key_std) ** 2,
            "this is the variance of the scores. The factor is 1 over its root.",
        ),
        Mistake(
            "square for root",
            lambda d_k, query_std, key_std: 1 / (d_k**2 * query_std * key_std),
            "d_k is squared where its root is needed: the standard deviation of a sum of d_k "
            "terms grows with √d_k.",
        ),
        Mistake(
            "the larger one",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * max(query_std, key_std)),
            "only the larger of the two standard deviations is there. The terms of the score are "
            "products q_i · k_i, so the deviations multiply.",
        ),
        Mistake(
            "the mean of both",
            lambda d_k, query_std, key_std: 2 / (math.sqrt(d_k) * (query_std + key_std)),
            "the mean of the standard deviations is taken. The terms of the score are products "
            "q_i · k_i, so the deviations multiply.",
        ),
        Mistake(
            "logarithm for root",
            lambda d_k, query_std, key_std: 1 / (math.log(d_k) * query_std * key_std),
            "the logarithm of d_k stands where its root belongs.",
        ),
        Mistake(
            "one square under the root",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k * query_std**2 + key_std**2),
            "a sum stands under the root: d_k · query_std² + key_std². The variance of the score "
            "is a product, d_k · query_std² · key_std².",
        ),
        Mistake(
            "root cut",
            lambda d_k, query_std, key_std: 1 / (int(math.sqrt(d_k)) * query_std * key_std),
            "the root of d_k is cut to a whole number. Do without `int` and `//`.",
        ),
    ],
    right="`score_scale` is right: the factor is 1 / (√d_k · query_std · key_std)",
)
