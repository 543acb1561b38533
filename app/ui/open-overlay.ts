/**
 * Whether a dialog or a menu is open, which handles its own keys and keeps the focus. One that is
 * only fading out does not count.
 */
export function isOverlayOpen(): boolean {
  // A toast is a dialog that leaves the page usable.
  const open = ":is([role=dialog], [role=alertdialog]):not([aria-modal=false]), [role=menu]"
  return document.querySelector(`:is(${open}):not([data-closed])`) !== null
}
