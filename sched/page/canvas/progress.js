// Keeps what was answered in the lessons, and tells it once to a page that was opened anew.
const KEPT = "sched.lessons";

// Some browsers refuse to remember anything; then every visit begins anew.
function kept(value) {
  try { return value === undefined ? JSON.parse(localStorage.getItem(KEPT)) : localStorage.setItem(KEPT, value); } catch { return null; }
}

export default function keep({ data, setTriggerValue }) {
  const told = kept();
  if (data.told || Object.keys(data.answers).length || !told) kept(JSON.stringify(data.answers));
  else if (Object.keys(told).length) setTriggerValue("kept", told);
}
