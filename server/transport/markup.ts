/**
 * Escapes text between tags and in quoted attributes, for HTML and XML. Removes characters that XML
 * cannot contain.
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
