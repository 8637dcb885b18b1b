"""Training (§5): loss, schedule, the loop, checkpoints."""

from transformer.training.checkpoint import (
    Checkpoint,
    average_checkpoints,
    load_checkpoint,
    load_model,
    save_checkpoint,
)
from transformer.training.history import History, Record
from transformer.training.loss import (
    cross_entropy,
    label_smoothed_cross_entropy,
    smoothed_projection_loss,
)
from transformer.training.objective import TranslationLoss, perplexity
from transformer.training.schedule import inverse_sqrt_rate, linear_rate, noam_rate
from transformer.training.settings import TrainSettings
from transformer.training.trainer import Trainer, train

__all__ = [
    "Checkpoint",
    "History",
    "Record",
    "TrainSettings",
    "Trainer",
    "TranslationLoss",
    "average_checkpoints",
    "cross_entropy",
    "inverse_sqrt_rate",
    "label_smoothed_cross_entropy",
    "linear_rate",
    "load_checkpoint",
    "load_model",
    "noam_rate",
    "perplexity",
    "save_checkpoint",
    "smoothed_projection_loss",
    "train",
]
