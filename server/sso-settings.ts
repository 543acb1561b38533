import * as v from "valibot"
import type { SsoProvider } from "./ports/single-sign-on.ts"

const SETTING = /^OIDC_([A-Z0-9]{1,30})_(ISSUER|CLIENT_ID|CLIENT_SECRET|LABEL|DOMAINS)(?:_FILE)?$/

/** Providers' settings have their own names, and can be read from files like all others. */
export function isSsoSetting(name: string): boolean {
  return SETTING.test(name)
}

const Issuer = v.pipe(
  v.string("is missing."),
  v.check(isIssuer, "must be the provider's issuer, such as https://login.example.org/realms/main."),
)

const Text = v.pipe(v.string("is missing."), v.maxLength(2000, "is too long."))

const Domain = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "must be domains such as example.org, separated by commas."),
)

const Provider = v.object({
  ISSUER: Issuer,
  CLIENT_ID: Text,
  CLIENT_SECRET: Text,
  LABEL: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(40, "can have up to 40 characters."))),
  DOMAINS: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(",")),
      v.array(Domain),
    ),
  ),
})

/** Without these, missing values would have a different message. */
const NOTHING = { ISSUER: undefined, CLIENT_ID: undefined, CLIENT_SECRET: undefined }

/**
 * Reads `OIDC_<NAME>_ISSUER`, `_CLIENT_ID`, `_CLIENT_SECRET`, `_LABEL` and `_DOMAINS`, in the order
 * of the names. `problems` names what is wrong, without values.
 */
export function readSsoProviders(env: Record<string, unknown>): {
  providers: SsoProvider[]
  problems: string[]
} {
  const found = new Map<string, Record<string, unknown>>()
  const problems: string[] = []
  for (const [setting, value] of Object.entries(env)) {
    if (!setting.startsWith("OIDC_")) continue
    const [, name, field] = SETTING.exec(setting) ?? []
    if (name === undefined || field === undefined)
      problems.push(
        `${setting} is unknown. A provider's settings are OIDC_<NAME>_ISSUER, _CLIENT_ID, _CLIENT_SECRET, _LABEL and _DOMAINS, with letters and digits in <NAME>.`,
      )
    else if (!setting.endsWith("_FILE")) found.set(name, { ...found.get(name), [field]: value })
  }
  const providers: SsoProvider[] = []
  for (const [name, fields] of [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const parsed = v.safeParse(Provider, { ...NOTHING, ...fields })
    if (!parsed.success) {
      for (const { path, message } of parsed.issues) problems.push(`OIDC_${name}_${fieldOf(path)} ${message}`)
      continue
    }
    const { ISSUER, CLIENT_ID, CLIENT_SECRET, LABEL, DOMAINS } = parsed.output
    providers.push({
      name: name.toLowerCase(),
      label: LABEL || name.charAt(0) + name.slice(1).toLowerCase(),
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      domains: DOMAINS ?? null,
    })
  }
  const issuers = providers.map(({ issuer }) => issuer)
  if (new Set(issuers).size < issuers.length)
    problems.push("Two OIDC_<NAME>_ISSUER are the same. Keep one of them.")
  return { providers, problems }
}

function fieldOf(path: v.BaseIssue<unknown>["path"]): string {
  return String(path?.[0]?.key)
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.search || url.hash || url.username || url.password) return false
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && isHere)
}
