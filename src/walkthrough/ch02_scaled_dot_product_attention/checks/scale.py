"""The check of chapter 02 on the scale of the scores (§3.2.1)."""

import math

from walkthrough.checking import Check, Mistake, fixed

score_scale = Check(
    name="score_scale",
    reference=lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * query_std * key_std),
    cases=[
        fixed("d_k = 64, both standard deviations 1", 64, 1.0, 1.0),
        fixed("d_k = 64, standard deviations 2 and 3", 64, 2.0, 3.0),
        fixed("d_k = 16, standard deviations 0.5 and 0.1", 16, 0.5, 0.1),
        fixed(
            "d_k = 20, standard deviations 2 and 0.5",
            20,
            2.0,
            0.5,
            special="√20 is no whole number, and 2 · 0.5 is 1: is something cut or rounded?",
        ),
        fixed("d_k = 1, standard deviations 0.3 and 4", 1, 0.3, 4.0),
    ],
    mistakes=[
        Mistake(
            "ignores the standard deviations",
            lambda d_k, query_std, key_std: 1 / math.sqrt(d_k),
            "this is the paper's 1/√d_k. It gives variance 1 where all components have standard "
            "deviation 1; here they do not.",
        ),
        Mistake(
            "divides by the variance",
            lambda d_k, query_std, key_std: 1 / (d_k * (query_std * key_std) ** 2),
            "this divides by the variance of the scores. Dividing by s divides a variance by s²: "
            "take the square root.",
        ),
        Mistake(
            "variances in the place of deviations",
            lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * (query_std * key_std) ** 2),
            "this divides by the variances. A factor on the scores acts on their standard "
            "deviation, which is √d_k · query_std · key_std.",
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
    ],
    right="`score_scale` is right: the factor is 1 / (√d_k · query_std · key_std)",
)
