// A link to a view is opened at the page's root, and the view's own address follows: Back goes past what is between.
export default function goPast({ data }) {
  if (window.__past) return;
  window.__past = true;
  window.addEventListener("popstate", (event) => {
    const view = new URLSearchParams(location.search).get("view");
    if (!data.views.includes(view) || location.pathname.replace(/\/$/, "").endsWith(`/${view}`)) return;
    event.stopImmediatePropagation();
    history.back();
  }, true);
}
