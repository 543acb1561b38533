/** How this browser describes itself to its user's other devices: `Firefox on Linux`. */
export function describeDevice(userAgent: string): string {
  return `${find(BROWSERS, userAgent) ?? "A browser"} on ${find(SYSTEMS, userAgent) ?? "an unknown system"}`
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

function find(names: Names, userAgent: string) {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1]
}
