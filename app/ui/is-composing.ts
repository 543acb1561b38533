/**
 * Whether a key belongs to an input method, such as the Enter that accepts a suggestion. Safari sends
 * that Enter after the composition has ended, and only its key code, 229, tells
 * (https://bugs.webkit.org/show_bug.cgi?id=165004).
 */
export function isComposing(event: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return event.isComposing || event.keyCode === 229
}
