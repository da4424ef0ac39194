"""The sentence above the table: what the policies bring over all seeds, and what that costs; all computed."""

from statistics import fmean

from sched.advice import THROUGHPUT
from sched.experiments import Comparison
from sched.page.cards import seconds
from sched.page.compare_cells import few, relative, share
from sched.page.compare_choices import Chosen, family_names
from sched.page.language import tr
from sched.page.marked import END, OPEN, Pieces, mark, pieces
from sched.page.titles import in_sentence
from sched.verdict import WORTH_A_WORD, not_served
from sched.words import capital


def _bare(text: str) -> str:
    """A user's text without the signs that mark a sentence here."""
    return text.replace(OPEN, "").replace(END, "")


class Words:
    """What is said of a comparison, sentence by sentence."""

    def __init__(self, found: Comparison, what: Chosen, goal_s: float | None, other: str) -> None:
        self.found, self.what, self.goal_s, self.other = found, what, goal_s, other
        self.many = len(found.seeds)
        self.name = _bare(what.name)
        self.figure = f"{family_names()[what.family]} {what.part}"

    def middle(self, policy: str) -> float | None:
        """The mean of the figure over the seeds, as in the table."""
        return self.found.estimate(policy, self.what.metric, self.what.name).mean

    def called(self, policy: str) -> str:
        """The policy inside a sentence."""
        return in_sentence(self.found.scenario, policy)

    def kept(self, policy: str) -> int:
        """On how many seeds it meets the goal."""
        if self.goal_s is None:
            return 0
        return self.found.meets(policy, self.what.metric, self.goal_s, self.what.name)[0]

    def price(self, policy: str) -> float | None:
        """The part of the baseline's throughput that it costs, as in the table; below 0 it adds."""
        change = relative(self.found, self.found.difference(policy, THROUGHPUT).mean, THROUGHPUT)
        return None if change is None else -change

    def subject(self) -> str | None:
        """The policy that is told of: the one beside the baseline, else the one with the least figure."""
        if self.other != self.found.baseline and self.middle(self.other) is not None:
            return self.other
        rest = [one for one in self.found.policies if one != self.found.baseline]
        known = [(value, one) for one in rest if (value := self.middle(one)) is not None]
        return min(known)[1] if known else None

    def rival(self, subject: str) -> str | None:
        """The policy that does best otherwise: on most seeds within the goal, then with the least figure."""
        ranked = [
            (-self.kept(one), value, one)
            for one in self.found.policies
            if one not in (subject, self.found.baseline) and (value := self.middle(one)) is not None
        ]
        return min(ranked)[2] if ranked else None

    def said(self) -> Pieces:
        """All of it."""
        base, subject = self.middle(self.found.baseline), self.subject()
        if base is None:
            text = tr(
                "Under {policy} no {name} request has a {figure}, so there is nothing to compare with.",
                policy=mark(self.called(self.found.baseline)),
                name=self.name,
                figure=self.figure,
            )
            return pieces(text)
        if subject is None:
            text = tr(
                "Under {policy} the {figure} of {name} is {time}. Add a policy to compare it with.",
                policy=mark(self.called(self.found.baseline)),
                name=self.name,
                figure=self.figure,
                time=mark(seconds(base)),
            )
            return pieces(text)
        return pieces(self._all(self._sentences(subject, base)))

    def _all(self, texts: list[str]) -> str:
        """The sentences one after the other."""
        whole = texts[0]
        for text in texts[1:]:
            whole = tr("{first} {second}", first=whole, second=text)
        return whole

    def _sentences(self, subject: str, base: float) -> list[str]:
        texts = [self._change(subject, base)]
        one = self.found.difference(subject, self.what.metric, self.what.name)
        if self.many > 1 and one.mean and one.low is not None and not one.is_clear:
            texts.append(tr("That difference may be chance."))
        texts += self._unserved(subject)
        rival = self.rival(subject)
        return [*texts, *(self._price_alone(subject) if rival is None else [self._rival(rival, subject)])]

    def _price_alone(self, subject: str) -> list[str]:
        """What the only other policy does to the throughput."""
        price = self.price(subject)
        if price is None or self._turns_away(subject):
            return []
        told = mark(share(abs(price), 1))
        if abs(price) < WORTH_A_WORD:
            return [tr("Throughput stays the same.")]
        if price > 0:
            return [tr("It costs {share} throughput.", share=told)]
        return [tr("It adds {share} throughput.", share=told)]

    def _unserved(self, subject: str) -> list[str]:
        """How many requests the two leave without a full answer, mean over the seeds, if any."""
        mine, base = (
            fmean(not_served(run) for run in self.found.runs[key]) for key in (subject, self.found.baseline)
        )
        if not mine and not base:
            return []
        return [
            tr(
                "{policy} leaves {n} requests without a full answer, {baseline} {m}.",
                policy=capital(self.called(subject)),
                n=mark(few(mine), "bad" if mine > base else "strong"),
                baseline=self.called(self.found.baseline),
                m=few(base),
            )
        ]

    def _change(self, subject: str, base: float) -> str:
        """From the baseline to the subject, whether that may be chance, and how often the goal is met."""
        value = self.middle(subject)
        assert value is not None
        given: dict[str, object] = {
            "n": self.many,
            "name": self.name,
            "figure": self.figure,
            "policy": self.called(subject),
            "base": mark(seconds(base)),
            "time": mark(seconds(value), self._tone(value, base)),
        }
        if seconds(value) == seconds(base):
            text = self._stays(given)
        elif value < base:
            text = self._falls(given)
        else:
            text = self._rises(given)
        return tr("{sentence}.", sentence=text + self._how_often(subject))

    def _tone(self, value: float, base: float) -> str:
        """How a figure is set: good is only what keeps the goal."""
        if value < base:
            return "good" if self.goal_s is None or value <= self.goal_s else "strong"
        return "bad" if value > base else "strong"

    def _falls(self, given: dict[str, object]) -> str:
        if self.many == 1:
            return tr("In this run the {figure} of {name} falls from {base} to {time} with {policy}", **given)
        return tr(
            "On average over {n} seeds the {figure} of {name} falls from {base} to {time} with {policy}",
            **given,
        )

    def _rises(self, given: dict[str, object]) -> str:
        if self.many == 1:
            return tr("In this run the {figure} of {name} rises from {base} to {time} with {policy}", **given)
        return tr(
            "On average over {n} seeds the {figure} of {name} rises from {base} to {time} with {policy}",
            **given,
        )

    def _stays(self, given: dict[str, object]) -> str:
        if self.many == 1:
            return tr("In this run the {figure} of {name} stays at {base} with {policy}", **given)
        return tr("On average over {n} seeds the {figure} of {name} stays at {base} with {policy}", **given)

    def _how_often(self, policy: str) -> str:
        if self.goal_s is None:
            return ""
        kept, goal = self.kept(policy), seconds(self.goal_s)
        if self.many == 1:
            return (
                tr(", which meets the goal of {goal}", goal=goal)
                if kept
                else tr(", which misses the goal of {goal}", goal=goal)
            )
        if not kept:
            return tr(", which misses the goal of {goal} on every seed", goal=goal)
        often = mark(tr("{kept} of {many}", kept=kept, many=self.many))
        return tr(", which meets the goal of {goal} on {often}", goal=goal, often=often)

    def _rival(self, rival: str, subject: str) -> str:
        """What the best of the others brings, and its price beside that of the subject."""
        value = self.middle(rival)
        assert value is not None
        policy = capital(self.called(rival))
        if self.goal_s is None or self.kept(rival) <= self.kept(subject) or self.many == 1:
            text = tr("{policy} brings {time}", policy=policy, time=mark(seconds(value)))
        else:
            text = tr("{policy} meets it on {kept}", policy=policy, kept=mark(str(self.kept(rival))))
        return tr("{sentence}.", sentence=text + self._prices(rival, subject))

    def _prices(self, rival: str, subject: str) -> str:
        """The throughput that both cost; nothing is said of it where requests were turned away instead."""
        mine, other = self.price(rival), self.price(subject)
        if mine is None or other is None or self._turns_away(rival) or self._turns_away(subject):
            return ""
        costs, gains = mark(share(abs(mine), 1)), share(abs(other), 1)
        if mine >= WORTH_A_WORD:
            if other >= WORTH_A_WORD:
                return tr(" but costs {share} throughput, against {other}", share=costs, other=gains)
            return tr(" but costs {share} throughput, against nothing", share=costs)
        if other >= WORTH_A_WORD:
            return tr(" and costs no throughput, against {other}", other=gains)
        if mine <= -WORTH_A_WORD:
            return tr(" and adds {share} throughput", share=costs)
        return tr(" at the same throughput")

    def _turns_away(self, policy: str) -> bool:
        """Whether it serves fewer requests than the baseline on any seed."""
        runs = zip(self.found.runs[policy], self.found.runs[self.found.baseline], strict=True)
        return any(not_served(mine) > not_served(base) for mine, base in runs)
