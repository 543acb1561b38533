/** How this browser describes itself to its user's other devices: `Firefox on Linux`. */
export function describeDevice(userAgent: string): string {
  const { browser, system } = readDevice(userAgent)
  return `${browser ?? "A browser"} on ${system ?? "an unknown system"}`
}

/** The names of a browser and its system; null for what is unknown. */
export function readDevice(userAgent: string): { browser: string | null; system: string | null } {
  return { browser: find(BROWSERS, userAgent), system: find(SYSTEMS, userAgent) }
}

type Names = readonly (readonly [pattern: RegExp, name: string])[]

// The first that fits: browsers name those they are compatible with as well.
const BROWSERS: Names = [
  [/Edg/, "Edge"],
  [/OPR|Opera/, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/SamsungBrowser/, "Samsung Internet"],
  [/Chrome|CriOS|Chromium/, "Chrome"],
  [/Safari/, "Safari"],
]

const SYSTEMS: Names = [
  [/iPhone|iPod/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
]

function find(names: Names, userAgent: string): string | null {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null
}
