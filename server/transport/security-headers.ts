/** The settings that the headers depend on. */
export interface Site {
  origin: string
  production: boolean
  identity: { kind: "clerk" | "embedded"; issuer: string }
}

/**
 * The headers of every response. Call it with the configuration once, then with a nonce for each
 * response.
 */
export function createSecurityHeaders(config: Site): (nonce: string) => [string, string][] {
  const policy = contentSecurityPolicy(config).split("{nonce}")
  const fixed: [string, string][] = [
    ["x-content-type-options", "nosniff"],
    ["referrer-policy", "strict-origin-when-cross-origin"],
    ["x-frame-options", "DENY"],
    ["cross-origin-opener-policy", "same-origin-allow-popups"],
    ["cross-origin-resource-policy", "same-origin"],
    ["permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"],
  ]
  if (config.origin.startsWith("https:")) fixed.push(["strict-transport-security", "max-age=31536000"])
  return (nonce) => [["content-security-policy", policy.join(nonce)], ...fixed]
}

/** Headers for users' bytes: they run nothing, and only our pages can embed them. */
export const ISOLATED = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; frame-ancestors 'self'; sandbox",
  "Cross-Origin-Resource-Policy": "same-origin",
  Vary: "Cookie, Authorization",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "SAMEORIGIN",
}

/**
 * Only scripts with the nonce run, and what they load. Nothing may embed us, and forms are only
 * sent to us.
 */
function contentSecurityPolicy(config: Site) {
  const socket = config.origin.replace(/^http/, "ws")
  const clerk = clerkOrigins(config)
  // Vite injects styles into the page and uses its own socket.
  const development = config.production ? "" : " 'unsafe-inline'"
  const directives = {
    "default-src": "'none'",
    "script-src": "'nonce-{nonce}' 'strict-dynamic'",
    "style-src": config.production ? "'self' 'nonce-{nonce}'" : `'self'${development}`,
    // The server's HTML has no style attributes. For Clerk's components we cannot promise that.
    "style-src-attr": config.identity.kind === "clerk" ? "'unsafe-inline'" : "'none'",
    "img-src": ["'self' data: blob:", ...clerk.images].join(" "),
    "font-src": "'self'",
    "connect-src": ["'self'", socket, ...(config.production ? [] : ["ws:"]), ...clerk.api].join(" "),
    "media-src": "'self' blob:",
    "frame-src": ["'self'", ...clerk.frames].join(" "),
    "worker-src": "'self' blob:",
    "manifest-src": "'self'",
    "form-action": ["'self'", ...clerk.api].join(" "),
    "base-uri": "'none'",
    "object-src": "'none'",
    "frame-ancestors": "'none'",
  }
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ")
}

/** The origins that Clerk's browser code uses: its Frontend API, avatars, and the bot challenge. */
function clerkOrigins({ identity }: Site) {
  if (identity.kind !== "clerk") return { api: [], images: [], frames: [] }
  return {
    api: [new URL(identity.issuer).origin, "https://clerk-telemetry.com"],
    images: ["https://img.clerk.com"],
    frames: ["https://challenges.cloudflare.com"],
  }
}
