"""Problem set 1: attention. Write the bodies, then run: python course/check.py set_1.py"""

import torch  # noqa: F401


def window_mask(length: int, width: int):
    """Return which keys each query may attend to: itself, and the `width` words before it.

    Returns (length, length), boolean, True = may attend; rows are queries.
    """
    raise NotImplementedError


def attention_gradients(query, key, value, attend_mask, upstream):
    """Return the gradients of softmax(Q Kᵀ / √d_k) V with respect to Q, K and V, without autograd.

    query (query_len, d_k), key (key_len, d_k), value (key_len, d_v); attend_mask (query_len,
    key_len), boolean, with one True at least in each row; upstream (query_len, d_v) is the gradient
    of the loss with respect to the output. Returns three tensors of the shapes of Q, K and V.
    """
    raise NotImplementedError


def merge(first, second):
    """Return the attention over all keys, from that over two halves of them.

    Each half is a pair: output (query_len, d_v), and log_total (query_len,), the logarithm of the
    sum of the exponentials of the query's scores; where a query may attend to none of the half's
    keys it is −∞ and the output 0. Returns such a pair. Scores may be as large as 1 000.
    """
    raise NotImplementedError
