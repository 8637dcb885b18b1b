"""The checks of chapter {{number}}: …"""

from walkthrough.checking import Case, Check, Mistake, arguments

# Exercise: a name --------------------------------------------------------------------------------


name = Check(
    name="name",
    reference=lambda x: x,
    cases=[Case("a number", lambda generator: arguments(2.0))],
    mistakes=[Mistake("doubled", lambda x: 2 * x, "this is twice what came in.")],
)
