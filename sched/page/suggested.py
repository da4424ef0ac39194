"""The suggested size of the rescue buffer, beside the control that sets it."""

import streamlit as st

from sched.experiments import expected_requests
from sched.external import link
from sched.fields import ScenarioError
from sched.language import language
from sched.page.language import say, tr
from sched.page.results import refused_size
from sched.page.state import set_values
from sched.page.titles import kept_share, percent, plain
from sched.scenario import Scenario, known_policies
from sched.sizing import suggest
from sched.sizing_words import Suggestion
from sched.words import count


@st.cache_resource(max_entries=256, show_spinner=False)
def _suggestion(form: str, lang: str, _scenario: Scenario) -> Suggestion:
    return suggest(_scenario, say=language(lang))


def suggestion(scenario: Scenario) -> Suggestion | None:
    """What is suggested for the requests of a scenario or its trace; None where they are too many or not had.

    It depends on the requests, the engine and who is urgent, not on what is kept now or compared.
    """
    settings = scenario.policies.get("rescue")
    level = getattr(settings, "for_priority", None)
    rescue = known_policies()["rescue"].model.model_validate({"for_priority": level})
    bare = scenario.changed(policies={"rescue": rescue}, annotate_after_s=None)
    try:
        if refused_size(expected_requests(scenario), scenario):
            return None
        return _suggestion(link(bare), say().code, bare)
    except ScenarioError:
        return None  # said in words where the picture is


def heading(found: Suggestion) -> str:
    """The suggestion in a line: "Suggested: 25 % (593 blocks)"."""
    if not found.blocks:
        return tr("Suggested: none, as no urgent request can run")
    blocks = count(found.blocks, "block", say())
    if found.share is None:
        return tr("Suggested: {blocks}; memory is unlimited, so none need be kept", blocks=blocks)
    return tr("Suggested: {share} ({blocks})", share=percent(found.share), blocks=blocks)


def _taken(share: float) -> None:
    set_values({"rescue.kv": f"{share:g}"})


def suggested(scenario: Scenario) -> None:
    """The caption, the arithmetic behind it, and, where the buffer is compared, a button that takes it."""
    found = suggestion(scenario)
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="suggested"):
        st.caption(heading(found), width="stretch")
        with st.popover(tr("Why"), key="suggested.why", type="tertiary"):
            st.markdown(tr("**How large the rescue buffer should be**"))
            st.markdown("\n".join(f"- {plain(line)}" for line in found.lines))
            st.caption(
                tr(
                    "The share is rounded up to whole per cent. It is a start, not a promise: move the "
                    "slider. It is sized for the growth of the urgent requests; Trade-offs looks for the "
                    "first size that keeps a goal, which may be another."
                )
            )
    kept, share = kept_share(scenario, "rescue"), found.share if found.blocks else None
    if kept is not None and share is not None and abs(kept - share) > 1e-9:
        st.button(
            tr("Set to {share}", share=percent(share)),
            key="suggested.set",
            help=tr("Keeps the suggested share of the KV blocks for the urgent."),
            width="stretch",
            on_click=_taken,
            args=(share,),
        )
