"""Files with one slip that the package does not list: the part to be named, and the first block."""

from styles import RIGHT

# (part, right, wrong, the first block that parts from the book's: None where nothing does, "stops"
# where the model cannot be called with padding)
MORE = {
    "weak mask": ("scaled_dot_product_attention", "-math.inf", "-2.0",
                  "encoder layer 1, self-attention"),
    "scaled twice": ("scaled_dot_product_attention", "math.sqrt(query.shape[-1])",
                     "query.shape[-1]", "encoder layer 1, self-attention"),
    "mask behind the softmax": (
        "scaled_dot_product_attention", "weights = scores.softmax(dim=-1)",
        "weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1) * attend_mask",
        "encoder layer 1, self-attention"),
    "zeros for −1e9": ("scaled_dot_product_attention", "-math.inf", "-1e9", None),
    "mask starts one late": (
        "padding_mask", "tokens != PAD",
        "torch.cat([tokens[:, :1] != -1, tokens[:, :-1] != PAD], 1)",
        "encoder layer 1, self-attention"),
    "rows of padding": ("padding_mask", "[:, None, None, :]", "[:, None, :, None]", "stops"),
    "another sentence's mask": ("padding_mask", "(tokens != PAD)", "(tokens != PAD).roll(1, 0)",
                                "encoder layer 1, self-attention"),
    "the end is padding": ("padding_mask", "tokens != PAD", "tokens > 2",
                           "encoder layer 1, self-attention"),
    "one triangle less": ("causal_mask", ".tril(key_len - query_len)", ".tril(-1)",
                          "decoder layer 1, self-attention"),
    "heads merged back to front": (
        "merge_heads", "heads.transpose(1, 2)", "heads.flip(1).transpose(1, 2)",
        "encoder layer 1, self-attention"),
    "values twice": ("MultiHeadAttention", "self.key_proj(key)", "self.value_proj(key)",
                     "encoder layer 1, self-attention"),
    "an output behind W^O": ("MultiHeadAttention", "return self.output_proj(merge_heads(heads))",
                             "return torch.relu(self.output_proj(merge_heads(heads)))",
                             "encoder layer 1, self-attention"),
    "mean over the batch": ("FeedForward", "return self.contract(torch.relu(self.expand(x)))",
                            "x = x - x.mean(0)\n"
                            "        return self.contract(torch.relu(self.expand(x)))",
                            "encoder layer 1, feed-forward network"),
    "leaky": ("FeedForward", "torch.relu(", "F.leaky_relu(",
              "encoder layer 1, feed-forward network"),
    "root of the words": ("TokenEmbedding", "self.weight.shape[1])", "self.weight.shape[0])",
                          "the source's embedding"),
    "cosine of the next": ("positional_encoding", "angle.cos()", "(angle + 0.1).cos()",
                           "the source's embedding plus positions"),
    "multiplied": ("positional_encoding", "position / 10000 **", "position * 10000 **",
                   "the source's embedding plus positions"),
    "norm over the words": ("layer_norm", "x.mean(dim=-1, keepdim=True)",
                            "x.mean(dim=-2, keepdim=True)",
                            "encoder layer 1, add & norm after the self-attention"),
    "eps outside": ("layer_norm", "(variance + eps).sqrt()", "(variance.sqrt() + eps)", None),
    "residual twice": ("ResidualNorm", "layer_norm(x +", "layer_norm(2 * x +",
                       "encoder layer 1, add & norm after the self-attention"),
    "dropout in evaluation": ("ResidualNorm", "self.dropout(sublayer(x))",
                              "F.dropout(sublayer(x), 0.1)",
                              "encoder layer 1, add & norm after the self-attention"),
    "mask of one sentence for all": ("EncoderLayer", "(x, x, x, source_mask)",
                                     "(x, x, x, source_mask[:1])",
                                     "encoder layer 1, self-attention"),
    "network of what came in": (
        "EncoderLayer", "return self.residuals[1](x, self.feed_forward)",
        "return self.residuals[1](x, lambda x: self.feed_forward(2 * x))",
        "encoder layer 1, feed-forward network"),
    "norms in another order": ("DecoderLayer", "self.residuals[1](y", "self.residuals[2](y",
                               "decoder layer 1, feed-forward network"),
    "network twice": ("DecoderLayer", "return self.residuals[2](y, self.feed_forward)",
                      "return self.residuals[2](self.residuals[2](y, self.feed_forward), "
                      "self.feed_forward)", "decoder layer 1, its output"),
    "target for source": ("Transformer", "y = self.embed(target)",
                          "y = self.embed(target.roll(1, 1))", "the target's embedding"),
    "memory detached and halved": ("Transformer", "y = layer(y, x,", "y = layer(y, x / 2,",
                                   "decoder layer 1, attention to the encoder's output"),
    "positions along the batch": ("Transformer", "positional_encoding(*x.shape[1:])",
                                  "positional_encoding(len(x), x.shape[2])[:, None]",
                                  "the source's embedding plus positions"),
    "one layer in evaluation": ("Transformer", "for layer in self.decoder:",
                                "for layer in self.decoder[:1]:", "the output: logits"),
}  # fmt: skip


def text(part, right, wrong):
    start = max(RIGHT.find(f"\n{kind} {part}(") for kind in ("def", "class"))
    end = RIGHT.find("\n\n\n", start)
    assert RIGHT[start:end].count(right) >= 1, right
    return RIGHT[:start] + RIGHT[start:end].replace(right, wrong) + RIGHT[end:]
