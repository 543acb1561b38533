import { useLingui } from "@lingui/react/macro"

/** Translates a browser's label for the user's other devices: `Firefox on Linux`. */
export function useDeviceName(): (label: string) => string {
  const { t } = useLingui()
  return (label) => {
    const [, browser, system] = /^(.+) on (.+)$/.exec(label) ?? []
    if (!browser || !system) return label
    const named = browser === "A browser" ? t`A browser` : browser
    const place = system === "an unknown system" ? t`an unknown system` : system
    return t`${named} on ${place}`
  }
}
