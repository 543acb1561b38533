import { whenIdle } from "./when-idle.ts"

/** Milliseconds. A user who does nothing for this long after the page has loaded is reading. */
const READING = 4000

const SIGNS = ["pointerover", "pointerdown", "keydown", "focusin"]

/**
 * Calls `act` on the user's first interaction, or while they are reading and the browser is idle.
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
