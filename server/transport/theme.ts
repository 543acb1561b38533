export type Theme = "light" | "dark" | "system"

/** The reader's choice of colours, from the cookie `theme`. */
export function readTheme(request: Request): Theme {
  return themeIn(request.headers.get("cookie"))
}

/** The same from the text of the cookie header. */
export function themeIn(cookies: string | null | undefined): Theme {
  const cookie = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(cookies ?? "")
  return cookie?.[1] === "light" || cookie?.[1] === "dark" ? cookie[1] : "system"
}
