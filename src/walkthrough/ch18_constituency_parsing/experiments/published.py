"""Table 4 of the paper: F1 on section 23 of the Wall Street Journal (§6.3)."""

from dataclasses import dataclass

WSJ, SEMI, MULTI, GENERATIVE = (
    "WSJ only",
    "semi-supervised",
    "multi-task",
    "generative",
)


@dataclass(frozen=True)
class System:
    """One row of the table; `is_transformer` marks those of the paper itself."""

    name: str
    training: str
    f1: float
    is_transformer: bool = False

    @property
    def short(self) -> str:
        """First author and year."""
        year = self.name.rpartition("(")[2].rstrip(")")
        return "Transformer" if self.is_transformer else f"{self.name.split()[0]} {year}"


TABLE_4 = (
    System("Vinyals & Kaiser et al. (2014)", WSJ, 88.3),
    System("Petrov et al. (2006)", WSJ, 90.4),
    System("Zhu et al. (2013)", WSJ, 90.4),
    System("Dyer et al. (2016)", WSJ, 91.7),
    System("Transformer (4 layers)", WSJ, 91.3, is_transformer=True),
    System("Zhu et al. (2013)", SEMI, 91.3),
    System("Huang & Harper (2009)", SEMI, 91.3),
    System("McClosky et al. (2006)", SEMI, 92.1),
    System("Vinyals & Kaiser et al. (2014)", SEMI, 92.1),
    System("Transformer (4 layers)", SEMI, 92.7, is_transformer=True),
    System("Luong et al. (2015)", MULTI, 93.0),
    System("Dyer et al. (2016)", GENERATIVE, 93.3),
)
