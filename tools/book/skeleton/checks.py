"""The checks of chapter {{number}}: …"""

from walkthrough.checking import Check, Mistake, fixed

# Exercise: a name --------------------------------------------------------------------------------

name = Check(
    name="name",
    reference=lambda numbers: sum(numbers) / len(numbers),
    # Hostile cases first: what would a wrong answer survive? (`walkthrough.checking` says more.)
    cases=[
        fixed("three numbers", [1.5, 4.0, 2.0]),
        fixed("one number", [7.0]),
        fixed("a large number first", [1e6, 1.0, -3.0, 2.0], special="What is lost beside 1e6?"),
    ],
    # Then the three to eight mistakes that people make.
    mistakes=[
        Mistake("the sum", sum, "this is the sum of all numbers. Divide it by how many they are."),
        Mistake(
            "one too few",
            lambda numbers: sum(numbers) / max(1, len(numbers) - 1),
            "you divide by n − 1, which belongs to a variance. A mean divides by n.",
        ),
        Mistake(
            "the middle",
            lambda numbers: sorted(numbers)[len(numbers) // 2],
            "this is the number that stands in the middle, the median.",
        ),
    ],
)
