// Hands the views to the components that show them: the code travels once, not with every change of data.

const VIEWS = { stage, cards, incidents, story, gallery, compare, still: stillPicture, tasks };

// A component's style lives in its own shadow, so it is put there by whoever draws in it.
function dressed(name) {
  return (api) => {
    const parent = api.parentElement;
    if (!parent.querySelector("style.sched")) {
      const style = el("style", { class: "sched" });
      style.textContent = STYLES[name];
      parent.append(style);
    }
    if (api.data?.lang) setLanguage(api.data.lang);
    return VIEWS[name](api);
  };
}

// On paper the page is what it is on the screen, made smaller: a canvas has the width that it was drawn for.
function measure() {
  const main = document.querySelector('[data-testid="stMainBlockContainer"]');
  if (!main) return;
  const style = getComputedStyle(main), wide = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  document.documentElement.style.setProperty("--shown-width", String(Math.max(360, Math.round(wide))));
}

// Called again when the theme changes: what the theme of the framework has no word for is said by the style sheet.
export default function publish({ parentElement }) {
  document.documentElement.dataset.schedLook = lookOf(parentElement.host ?? parentElement).dark ? "dark" : "light";
  const code = (globalThis.schedLab ??= {});
  code.ready ??= new Promise((resolve) => { code.resolve = resolve; });
  code.resolve?.(Object.fromEntries(Object.keys(VIEWS).map((name) => [name, dressed(name)])));
  code.resolve = () => {};
  if (!code.printed) addEventListener("beforeprint", measure);
  code.printed = true;
}
