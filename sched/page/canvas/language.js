// Says in which language the page is: screen readers pronounce by it, and browsers choose the shape of characters.
const CODES = { zh: "zh-Hans" };

export default function declare({ data }) {
  document.documentElement.lang = CODES[data.lang] ?? data.lang;
}
