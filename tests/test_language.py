"""The page in another language: sentences are found by their English, and what is not there is known."""

from sched.language import ENGLISH, NAMES, Language, catalogue, language


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
