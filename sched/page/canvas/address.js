// The bar of views leaves an address that says nothing, which Back would come to: it is completed where it stands.
// Whoever has gone on meanwhile stands in another entry, which is left as it is.
export default function complete({ data }) {
  const told = `${data.number}?${data.query}`;
  if (window.__addressed === told) return;
  window.__addressed = told;
  const last = location.pathname.split("/").filter(Boolean).at(-1), view = data.views.includes(last) ? last : "lab";
  const pairs = (query) => JSON.stringify([...new URLSearchParams(query)].filter(([, text]) => text).sort());
  if (view !== data.page || pairs(location.search) !== pairs(data.seen)) return;
  history.replaceState(history.state, "", `${location.pathname}?${data.query}`);
}
