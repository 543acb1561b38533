import { whenIdle } from "./when-idle.ts"

/** A person who does nothing for so long after the page has loaded reads. Milliseconds. */
const READING = 4000

const SIGNS = ["pointerover", "pointerdown", "keydown", "focusin"]

/**
 * Does something at the first sign of a person on the page, or while they read and the browser has
 * nothing to do.
 */
export function whenWanted(act: () => void): void {
  const signs = new AbortController()
  function actOnce() {
    signs.abort()
    act()
  }
  for (const sign of SIGNS)
    addEventListener(sign, actOnce, { signal: signs.signal, passive: true, once: true })
  const wait = () => setTimeout(() => whenIdle(() => signs.signal.aborted || actOnce()), READING)
  if (document.readyState === "complete") wait()
  else addEventListener("load", wait, { once: true })
}
