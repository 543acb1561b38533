/**
 * For text between tags and in quoted attributes, in HTML and in XML alike. Leaves out the
 * characters that XML cannot hold.
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(UNREPRESENTABLE, "")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

const UNREPRESENTABLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
