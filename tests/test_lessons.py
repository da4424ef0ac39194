"""Every lesson's claims, by the run that it speaks of: if the engine disagreed, the lesson would be wrong."""

import re
import string
import time
from itertools import pairwise

import pytest

from sched.external import link, parse_link
from sched.language import NAMES
from sched.registry import known_policies
from sched.text import facts_choices as choices
from sched.text import lesson_runs as of
from sched.text.facts_memory import crossing, served_share
from sched.text.lessons import BY_KEY, LESSONS, PLAYED_S, Lesson, facts_of, parts, told, written
from sched.text.onelock import LOW, PATHFINDER

KEYS = [one.key for one in LESSONS]
NAMED = {"question", "rule", "take", "title", "lead"}


def fields(body: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(body) if name}


def v(key: str, name: str) -> float:
    value = facts_of(key).values[name]
    assert not isinstance(value, str)
    return value


def close(a: float, b: float) -> bool:
    return abs(a - b) < 1e-9


def test_there_are_nine_lessons_with_names_of_their_own() -> None:
    assert len(LESSONS) == len(BY_KEY) == 9


# --- the texts


@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("key", KEYS)
def test_no_number_is_typed_into_a_text(key: str, lang: str) -> None:
    for name, body in parts(key, lang).items():
        bare = re.sub(r"\{\w+\}", "", body)
        assert not re.search(r"\d", bare), f"{name}: {bare}"


@pytest.mark.parametrize("lang", [lang for lang in NAMES if lang != "en"])
@pytest.mark.parametrize("key", KEYS)
def test_every_language_says_the_same_with_the_same_numbers(key: str, lang: str) -> None:
    english, other = parts(key, "en"), parts(key, lang)
    assert list(english) == list(other)
    for name in english:
        assert fields(english[name]) == fields(other[name]), name
        assert english[name].count("\n\n") == other[name].count("\n\n"), name
        assert english[name].count("**") == other[name].count("**"), name


@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("key", KEYS)
def test_a_lesson_has_every_part_and_no_other(key: str, lang: str) -> None:
    lesson = BY_KEY[key]
    wanted = NAMED | set(lesson.options) | {f"try:{one.key}" for one in lesson.tries}
    assert set(parts(key, lang)) - {"beside"} == wanted
    found = told(key, lang)
    assert all(one.label and one.why for one in found.options)
    words = [*found[:4], *(word for one in found.options for word in one), found.beside, found.take]
    words += found.tries.values()
    assert not [one for one in words if "{" in one]
    assert not [one for one in words if re.search(r"(?<![\d,.])1 (blocks|requests|steps|seats|new)", one)]


@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("key", KEYS)
def test_options_are_distinct_and_exactly_one_is_right(key: str, lang: str) -> None:
    facts, options = facts_of(key), told(key, lang).options
    assert len({one.label for one in options}) == len(options) >= 3
    assert set(facts.claims) == set(BY_KEY[key].options)
    assert len(set(map(repr, facts.claims.values()))) == len(facts.claims)
    assert facts.right in BY_KEY[key].options


def test_the_right_option_does_not_stand_in_the_same_place_everywhere() -> None:
    places = [BY_KEY[key].options.index(facts_of(key).right) for key in KEYS]
    assert max(places.count(place) for place in places) <= 4


def test_an_option_is_right_by_what_happened_and_by_nothing_else() -> None:
    assert of.right_of({"a": 1, "b": 2}, 2) == "b"
    for claims in ({"a": 1, "b": 1}, {"a": 0, "b": 2}):
        with pytest.raises(AssertionError, match="options claim 1"):
            of.right_of(claims, 1)


def test_values_are_written_by_the_end_of_their_name() -> None:
    assert written("wait_s", 5.7263) == "5.7\u202fs"
    assert written("free_share", 0.022) == "2\u202f%"
    assert written("lost", 1995) == "1,995"
    assert written("times", 4.894) == "4.9"
    assert written("focus", "chat-1") == "chat-1"


# --- the scenarios


@pytest.mark.parametrize("lesson", LESSONS, ids=KEYS)
def test_a_lesson_runs_at_once_and_its_moment_lies_in_the_run(lesson: Lesson) -> None:
    for show in (lesson.shown, lesson.against):
        if show is None:
            continue
        run = of.run(lesson.scenario, show.policy, show.changes)
        began = time.process_time()
        of.run.__wrapped__(lesson.scenario, show.policy, show.changes)
        assert time.process_time() - began < 0.5, "a tenth of a second on a quiet machine"
        facts = facts_of(lesson.key)
        assert facts.focus in run.log.requests.ids
        assert 0 < facts.at_s < facts.at_s + PLAYED_S < of.makespan_s(run.log)
        assert not run.log.stop_reason and (run.log.outcome == 0).all()


@pytest.mark.parametrize("lesson", LESSONS, ids=KEYS)
def test_what_may_be_tried_opens_by_a_link_and_changes_something(lesson: Lesson) -> None:
    for one in lesson.tries:
        scenario = of.lesson_scenario(lesson.scenario, one.changes)
        assert {one.a, one.b} <= set(scenario.policies)
        assert parse_link(link(scenario))[0] == scenario
        for key in (one.a, one.b):
            log = of.run(lesson.scenario, key, one.changes).log
            assert not log.stop_reason and (log.outcome == 0).all(), (one.key, key)
        assert one.changes or (one.a, one.b) != (
            lesson.shown.policy,
            lesson.against and lesson.against.policy,
        )


def test_what_may_be_tried_is_what_its_label_says() -> None:
    changed = {(lesson.key, one.key): dict(one.changes) for lesson in LESSONS for one in lesson.tries}
    assert int(changed["batching", "seats"]["engine.max_num_seqs"]) == v("batching", "running")
    assert int(changed["bounded", "longer"]["requests.api-{i}.count"]) == 2 * v("bounded", "newcomers")
    assert int(changed["tenants", "burst"]["requests.script-{i}.count"]) == 2 * v("tenants", "sent")
    assert float(changed["tenants", "weight"]["tenants.script.weight"]) > 1


def test_the_lessons_name_policies_that_exist() -> None:
    for lesson in LESSONS:
        assert lesson.shown.policy in known_policies()


# --- what each lesson claims


def test_batching_lets_a_newcomer_in_at_the_next_iteration_and_a_static_batch_does_not() -> None:
    assert facts_of("batching").right == "next"
    assert v("batching", "wait_s") < v("batching", "together_s")
    assert v("batching", "static_wait_s") > 100 * v("batching", "wait_s")
    assert v("batching", "running") < v("batching", "seats")
    assert v("batching", "many") - 1 < v("batching", "times") < v("batching", "many")
    static = of.run("batching", "static").log
    assert close(of.start_s(static, "chat-5"), v("batching", "batch_end_s"))


def test_a_request_holds_all_its_blocks_to_its_end() -> None:
    run = of.run("blocks", "fcfs")
    _, held = of.held_blocks(run, "docs-1")
    assert (held[1:] >= held[:-1]).all() and held[-1] > held[0]
    assert facts_of("blocks").right == "end"
    assert v("blocks", "free") < v("blocks", "needs") and v("blocks", "free_last") < v("blocks", "free")
    assert v("blocks", "lost_tokens") >= v("blocks", "prompt")
    more = of.run("blocks", "fcfs", BY_KEY["blocks"].tries[1].changes)
    assert of.wait_s(more, "chat-1") < 0.1


def test_inheritance_bounds_the_wait_for_a_lock_and_does_nothing_for_blocks() -> None:
    assert facts_of("lock").right == "medium"
    assert v("lock", "lifted_steps") == v("lock", "section_left")
    assert v("lock", "plain_steps") == v("lock", "section_left") + v("lock", "medium_work")
    assert v("lock", "twice_steps") == v("lock", "section_left") + 2 * v("lock", "medium_work")
    assert v("lock", "wait_s") == v("lock", "lifted_wait_s") > 2 * v("lock", "gated_wait_s")
    assert PATHFINDER[2].name == LOW
    ours = of.run("lock", "backfill")
    assert {one.partition("-")[0] for one in of.running(ours.log, 5.0)} == {"api"}, "and no single holder"


def test_nothing_bounds_the_wait_while_newcomers_may_pass_and_the_rule_of_the_head_does() -> None:
    assert facts_of("bounded").right == "passer"
    assert v("bounded", "longer_wait_s") > 1.8 * v("bounded", "wait_s")
    assert v("bounded", "longer_bound_wait_s") == v("bounded", "bound_wait_s") < v("bounded", "wait_s") / 5
    assert v("bounded", "newcomers_longer") == 2 * v("bounded", "newcomers")
    assert v("bounded", "free_then") < v("bounded", "needs_small") < v("bounded", "needs")
    assert v("bounded", "needs_newcomer") <= v("bounded", "free_then")
    longest = [
        of.wait_s(of.run("stream", "backfill", (("requests.api-{i}.count", str(many)),)), "chat-1")
        for many in (12, 24, 48, 96)
    ]
    assert all(b > 1.5 * a for a, b in pairwise(longest))


def test_inheritance_changes_nothing_at_all() -> None:
    assert facts_of("inheritance").right == "same"
    plain, lifted = of.run("stream", "backfill").log, of.run("stream", "inheritance").log
    assert (plain.first_scheduled_ps == lifted.first_scheduled_ps).all()
    assert (plain.ended_ps == lifted.ended_ps).all()
    assert v("inheritance", "served_share") == 1 and v("inheritance", "holders") > 1
    run = of.run("stream", "inheritance")
    for holder in of.running(run.log, facts_of("inheritance").at_s):
        assert served_share(run, holder, of.start_s(run.log, holder)) == 1
    assert v("inheritance", "kept_wait_s") < v("inheritance", "gated_wait_s") < v("inheritance", "wait_s") / 5


def test_the_buffer_takes_back_the_newest_loans_and_others_pay() -> None:
    assert facts_of("rescue").right == "newest"
    run = of.run("stream", "rescue")
    assert v("rescue", "wait_s") < 0.1 < v("rescue", "plain_wait_s") / 100
    assert v("rescue", "needs") <= v("rescue", "kept")
    assert v("rescue", "api_wait_s") > 2 * v("rescue", "plain_api_wait_s")
    assert v("rescue", "strict_makespan_s") > 1.5 * v("rescue", "plain_makespan_s")
    strict = of.run("stream", "rescue", choices.STRICT).log
    assert not len(strict.preempted.victim) and v("rescue", "strict_wait_s") < 0.1
    # The holder that is left alone came while there was room outside the buffer; the oldest would lose most.
    at_s = facts_of("rescue").at_s
    there = of.running(run.log, at_s)
    outside = v("rescue", "kv_blocks") - v("rescue", "kept")
    before = there[: there.index("docs-1") + 1]
    assert sum(of.holds(run, one, at_s) for one in before) <= outside
    assert of.start_s(run.log, str(facts_of("rescue").values["oldest"])) < of.start_s(run.log, there[-1])
    small = of.run("stream", "rescue", BY_KEY["rescue"].tries[1].changes)
    kept = small.log.set_aside
    assert kept is not None and kept.kv_blocks < v("rescue", "needs")


def test_ageing_changes_the_order_and_not_whether_it_fits() -> None:
    facts = facts_of("ageing")
    assert facts.right == "passer" and facts.values["first"] == facts.focus
    assert v("ageing", "waited_s") > v("ageing", "first_after_s")
    assert v("ageing", "wait_s") == v("ageing", "plain_wait_s")
    assert v("ageing", "stops_wait_s") < v("ageing", "wait_s") / 2
    assert v("ageing", "seats_wait_s") < v("ageing", "seats_plain_wait_s") / 2
    seats = of.run("ageing", "aging", choices.SEATS_SHORT)
    assert of.free(seats, facts.at_s) > v("ageing", "needs"), "memory is no longer short"


def test_counting_service_lets_the_small_tenant_through_at_no_cost_to_the_engine() -> None:
    assert facts_of("tenants").right == "least"
    assert v("tenants", "wait_s") < v("tenants", "plain_wait_s") / 5
    assert v("tenants", "script_end_s") > v("tenants", "plain_script_end_s")
    assert close(v("tenants", "makespan_s"), v("tenants", "plain_makespan_s"))
    assert v("tenants", "served_web") < v("tenants", "served_script")
    log = of.run("tenants", "vtc").log
    starts = [of.start_s(log, one) for one in log.requests.ids if one.startswith("script")]
    assert starts == sorted(starts), "one tenant's requests keep their order"
    assert not of.run("tenants", "vtc").inversion.inversion_ps.any(), "nobody is more urgent here"


def test_priority_hands_waiting_on_and_removes_none() -> None:
    assert facts_of("everyone").right == "oldest"
    assert v("everyone", "same") == v("everyone", "requests")
    assert v("everyone", "half_app_wait_s") < v("everyone", "app_wait_s") / 3
    assert v("everyone", "half_web_wait_s") > 1.5 * v("everyone", "web_wait_s")
    assert close(v("everyone", "half_mean_wait_s"), v("everyone", "mean_wait_s"))
    assert close(v("everyone", "more_wait_s"), v("everyone", "more_plain_wait_s"))
    assert v("everyone", "more_wait_s") < v("everyone", "mean_wait_s") / 50


def test_who_enters_next_and_who_holds_what_are_read_off_the_run() -> None:
    run = of.run("stream", "backfill")
    at_s, leaver, ends = crossing(run, "chat-1")
    entered, who = of.first_in(run.log, at_s)
    assert (
        entered == ends and leaver in of.running(run.log, at_s) and who.isdisjoint(of.running(run.log, at_s))
    )
    held = sum(of.holds(run, one, at_s) for one in of.running(run.log, at_s))
    assert held + of.free(run, at_s) == run.log.machine.kv_blocks
