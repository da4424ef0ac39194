// Some entries of the history stand between two views: a link to a view is opened at the page's root, and a button
// that opens the Lab leaves its query at the view that it stood in. Back goes past them, and so does Forward.
export default function goPast({ data }) {
  if (window.__past) return;
  window.__past = true;
  let step = -1;
  window.navigation?.addEventListener("currententrychange", ({ from }) => {
    step = (from?.index ?? 1) < (navigation.currentEntry?.index ?? 0) ? 1 : -1;
  });
  window.addEventListener("popstate", (event) => {
    const last = location.pathname.split("/").filter(Boolean).at(-1), place = data.views.includes(last) ? last : "lab";
    const said = new URLSearchParams(location.search), view = said.get("view");
    const named = data.views.includes(view) ? view : "lab";
    if (!said.size || named === place) return;
    event.stopImmediatePropagation();
    history.go(step);
  }, true);
}
