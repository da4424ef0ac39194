"""The rescue buffer with caps."""

from sched.policies.caps import CAPS, Capped
from sched.policies.rescue import Rescue


class RescueCap(Capped, Rescue):
    """The rescue buffer, and caps on what every class but the most urgent may hold.

    Helps the urgent twice: what is kept for them is there, and little has to be taken back for it. Hurts the
    others as both do: long requests wait for each other, idle memory is lent or lies idle.
    Source: the article's first two remedies together; see rescue and kv_cap.
    """

    key = "rescue_cap"
    title = "Rescue buffer with caps"
    settings = (*CAPS, *Rescue.settings)
