"""The page in another language: sentences are found by their English, and what is not there is known."""

from sched.language import ENGLISH, NAMES, Language, catalogue, language
from sched.words import marked


def test_a_sentence_is_found_by_its_english_and_its_values_are_put_in_as_they_are() -> None:
    say = Language("zh", {"{name} waits": "{name} 在等待", "{n} blocks": "{n} 个块"})
    assert say("{name} waits", name="{evil}") == "{evil} 在等待"
    assert say.count(1, "{n} block", "{n} blocks") == "1 个块"
    assert ENGLISH.count(1, "{n} block", "{n} blocks") == "1 block"
    assert ENGLISH.count(2000, "{n} block", "{n} blocks") == "2,000 blocks"


def test_what_the_catalogue_does_not_have_is_said_in_english_and_is_known_to_be_missing() -> None:
    say = Language("zh")
    assert say("{name} waits", name="chat-1") == "chat-1 waits"
    assert say.missing == {"{name} waits"}


def test_every_language_but_english_has_a_catalogue() -> None:
    for code in NAMES:
        assert code == "en" or len(catalogue(code)) > 5
        assert language(code).code == code


def test_chinese_and_other_scripts_stand_apart_and_chinese_together() -> None:
    say = Language("zh", {"Under {policy}": "采用{policy}时", "{one} and {other}": "{one} 和 {other}"})
    assert say("Under {policy}", policy="DRF") == "采用 DRF 时"
    assert say("Under {policy}", policy="老化") == "采用老化时"
    assert say("{one} and {other}", one="chat-1", other="另外 5 个") == "chat-1 和另外 5 个"
    assert ENGLISH("{one}{other}", one="我", other="a") == "我a"


def test_the_pieces_of_a_marked_sentence_are_spaced_alike() -> None:
    say = Language("zh", {"Under **{policy}**, {span}": "采用**{policy}**时，**{span}**后"})
    runs = marked("Under **{policy}**, {span}", say, policy="DRF", span="5 s")
    assert "".join(run.text for run in runs) == "采用 DRF 时，5 s 后"


def test_what_is_bold_is_spaced_outside_its_stars() -> None:
    say = Language(
        "zh", {"With **{setting}** for {name}.": "采用**{setting}**时，为{name}。", "{a} {b}": "{a} {b}"}
    )
    assert say("With **{setting}** for {name}.", setting="5 %", name="chat") == "采用 **5 %** 时，为 chat。"
    assert say("With **{setting}** for {name}.", setting="DRF", name="老化") == "采用 **DRF** 时，为老化。"
    assert say("{a} {b}", a="一句。", b="another") == "一句。another"
