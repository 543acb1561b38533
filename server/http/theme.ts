export type Theme = "light" | "dark" | "system"

/** The reader's choice of colours, from the cookie `theme`. */
export function readTheme(request: Request): Theme {
  return themeIn(request.headers.get("cookie"))
}

/** The same from all cookies, as their header has them. */
export function themeIn(cookies: string | null | undefined): Theme {
  const cookie = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(cookies ?? "")
  return cookie?.[1] === "light" || cookie?.[1] === "dark" ? cookie[1] : "system"
}

/** The `Set-Cookie` that keeps a choice for a year. The system's choice needs no cookie, so that removes it. */
export function themeCookie(theme: Theme, options: { secure: boolean }): string {
  const age = theme === "system" ? 0 : 365 * 24 * 60 * 60
  return `theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax; HttpOnly${options.secure ? "; Secure" : ""}`
}
