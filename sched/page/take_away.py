"""Take it with you: what is shown as files. Each is made only when somebody asks for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sched.exports import Runs, csv_zip, file_name, json_text, parquet_zip
from sched.figures.picture import picture
from sched.figures.report_page import report
from sched.files import to_toml
from sched.page.component import alone
from sched.page.language import tr
from sched.page.results import Result
from sched.page.scene import report_of, scene
from sched.view import Shown


@dataclass(frozen=True)
class File:
    """A file that can be asked for: what its button says, how it ends, and what makes it."""

    label: str
    what: str
    ending: str
    mime: str
    make: Callable[[], str | bytes]


def files(
    now: Shown, runs: dict[str, Result], name: str, link: str
) -> list[tuple[str, str, str, list[File]]]:
    """Rows of the panel: icon, what it is, what is in it, the files.

    What depends on the language is put into words here; a file is made later, in another thread.
    """
    told = report_of(now, runs, name, link)
    drawn, scenario = told.scene, now.scenario
    of: Runs = {key: (run.log, run.inversion) for key, run in runs.items()}
    return [
        (
            ":material/article:",
            tr("Report"),
            tr("one HTML file with the replay, opens offline"),
            [File("HTML", "report", "html", "text/html", lambda: report(told))],
        ),
        (
            ":material/image:",
            tr("Picture"),
            tr("the stage as it stands"),
            [File("SVG", "picture", "svg", "image/svg+xml", lambda: picture(drawn))],
        ),
        (
            ":material/table:",
            tr("Tables"),
            tr("requests, waits, iterations, spans"),
            [
                File("CSV", "csv", "zip", "application/zip", lambda: csv_zip(scenario, of)),
                File("Parquet", "parquet", "zip", "application/zip", lambda: parquet_zip(scenario, of)),
                File("JSON", "figures", "json", "application/json", lambda: json_text(scenario, of)),
            ],
        ),
        (
            ":material/tune:",
            tr("Scenario"),
            tr("for the command line"),
            [File("TOML", "scenario", "toml", "application/toml", lambda: to_toml(scenario))],
        ),
    ]


def take_away(now: Shown, runs: dict[str, Result], name: str, link: str) -> None:
    """The rows with their buttons."""
    st.markdown(f"**{tr('Or take it with you')}**")
    for symbol, head, about, offered in files(now, runs, name, link):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{symbol} **{head}** :gray[{about}]", width="stretch")
            if offered[0].ending == "svg":
                _png(now, runs, name, link)
            for one in offered:
                policies = list(runs) if one.ending in ("zip", "json", "toml") else [now.a, now.b]
                st.download_button(
                    one.label,
                    one.make,
                    file_name=file_name(now.scenario, policies, one.what, one.ending),
                    mime=one.mime,
                    key=f"take_{one.label}",
                    on_click="ignore",
                )


def _asked() -> None:
    st.session_state["pictures"] = st.session_state.get("pictures", 0) + 1
    st.session_state["touched"] = True


def _png(now: Shown, runs: dict[str, Result], name: str, link: str) -> None:
    """The browser turns the picture into points, twice as many as it is wide; it gets it when it asks."""
    number = st.session_state.get("pictures", 0)
    is_asked = number != st.session_state.get("pictures_sent", 0)
    data: dict[str, Any] = {"label": "PNG", "number": number, "svg": None}
    if is_asked:
        made, _ = scene(now, runs, name, link)
        st.session_state["picture"] = picture(made)
        st.session_state["pictures_sent"] = number
    data["svg"] = st.session_state.get("picture") if number else None
    data["name"] = file_name(now.scenario, [now.a, now.b], "picture", "png")
    alone("picture", '<button type="button"></button>')(
        data=data, key="take_PNG", on_ask_change=_asked, width="content"
    )
