// A component that waits for its code and then shows NAME.
export default function shown(api) {
  const code = (globalThis.schedLab ??= {});
  code.ready ??= new Promise((resolve) => { code.resolve = resolve; });
  let undo = null, over = false;
  code.ready.then((views) => { if (!over) undo = views[NAME](api); });
  return () => { over = true; undo?.(); };
}
