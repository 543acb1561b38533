import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as v from "valibot"

export type Config = ReturnType<typeof readConfig>

/**
 * Reads the settings. Pure: give it `process.env`.
 * Throws one error that names every wrong or missing variable and says what to do; it never repeats a value.
 */
export function readConfig(environment: Record<string, string | undefined>) {
  const env = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  )
  const parsed = v.safeParse(Environment, env)
  if (!parsed.success) throw new ConfigError(parsed.issues.map((issue) => describeIssue(issue)))

  const settings = parsed.output
  const appUrl = new URL(settings.APP_URL ?? `http://localhost:${settings.PORT}`)
  const problems = [...combinationProblems(settings, appUrl)]
  if (problems.length > 0) throw new ConfigError(problems)

  const dataDir = resolve(settings.DATA_DIR)
  return {
    production: settings.NODE_ENV === "production",
    logLevel: settings.LOG_LEVEL,
    port: settings.PORT,
    host: settings.HOST,
    /** The public origin, without a trailing slash. */
    origin: appUrl.origin,
    dataDir,
    database: settings.DATABASE_URL
      ? { kind: "external" as const, url: settings.DATABASE_URL }
      : { kind: "embedded" as const, directory: resolve(dataDir, "postgres") },
    identity: identityConfig(settings, appUrl),
    adminEmails: settings.ADMIN_EMAILS,
    mail: {
      from: settings.MAIL_FROM,
      ...(settings.SMTP_URL
        ? { kind: "smtp" as const, url: settings.SMTP_URL }
        : { kind: "embedded" as const, inboxPort: settings.MAIL_INBOX_PORT }),
    },
    chat: {
      gateway: gatewayConfig(settings),
      model: settings.CHAT_MODEL,
      systemPrompt: settings.CHAT_SYSTEM_PROMPT,
      maxSteps: settings.CHAT_MAX_STEPS,
      /** Requests per minute. */
      rateLimit: settings.CHAT_RATE_LIMIT,
    },
    docsUrl: settings.DOCS_URL ?? "/docs/introduction",
    /** Bytes. */
    files: {
      maxSize: settings.FILES_MAX_SIZE,
      quota: { free: settings.FILES_QUOTA_FREE, pro: settings.FILES_QUOTA_PRO },
    },
    blobs: { directory: settings.BLOBS_URL ? fileURLToPath(settings.BLOBS_URL) : resolve(dataDir, "blobs") },
  }
}

/** `AI_GATEWAY_API_KEY` has this value where the operator chose the development gateway. */
export const EMBEDDED_GATEWAY_KEY = "embedded"

export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(
      `Check the settings (environment or .env):\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    )
    this.name = "ConfigError"
    this.problems = problems
  }
}

const wholeNumber = (what: string, least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, `must be a whole number: ${what}.`),
    v.transform(Number),
    v.minValue(least, `must be at least ${least}: ${what}.`),
    v.maxValue(most, `must be at most ${most}: ${what}.`),
  )

const byteCount = (what: string) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9} *([KMGT]i?)?B?$/i, `must be a size such as 500MB, 2GiB or 1048576: ${what}.`),
    v.transform((value) => {
      const [, amount, unit] = /^(\d+) *(.*?)B?$/i.exec(value) ?? []
      return Number(amount) * (BYTES_PER_UNIT.get(unit?.toLowerCase() ?? "") ?? 1)
    }),
    v.maxValue(2 ** 50, `must be at most 1024TiB: ${what}.`),
  )

const BYTES_PER_UNIT = new Map([
  ["k", 1e3],
  ["m", 1e6],
  ["g", 1e9],
  ["t", 1e12],
  ["ki", 2 ** 10],
  ["mi", 2 ** 20],
  ["gi", 2 ** 30],
  ["ti", 2 ** 40],
])

const address = (protocols: string[], example: string) =>
  v.pipe(
    v.string(),
    v.check(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be an address such as ${example}.`,
    ),
  )

const Environment = v.object({
  NODE_ENV: v.optional(v.string()),
  LOG_LEVEL: v.optional(
    v.picklist(
      ["trace", "debug", "info", "warn", "error", "silent"],
      "must be trace, debug, info, warn, error or silent.",
    ),
    "info",
  ),
  PORT: v.optional(wholeNumber("the port to listen on", 1, 65_535), "3000"),
  HOST: v.optional(v.string(), "0.0.0.0"),
  APP_URL: v.optional(
    v.pipe(
      address(["http:", "https:"], "https://tideline.example.org"),
      v.check((value) => {
        const url = new URL(value)
        return url.pathname === "/" && !url.search && !url.hash && !url.username
      }, "must be an origin alone, without path, query or user name: https://tideline.example.org."),
    ),
  ),
  DATA_DIR: v.optional(v.string(), ".data"),
  DATABASE_URL: v.optional(
    address(["postgres:", "postgresql:"], "postgres://user:password@host:5432/tideline"),
  ),
  AUTH_SECRET: v.optional(
    v.pipe(
      v.string(),
      v.minLength(32, "must have at least 32 characters. Make one with: openssl rand -base64 32"),
    ),
  ),
  SIGNUP: v.optional(v.picklist(["open", "closed"], "must be open or closed."), "open"),
  ADMIN_EMAILS: v.optional(
    v.pipe(
      v.string(),
      v.transform((value) =>
        value
          .split(",")
          .map((email) => email.trim().toLowerCase())
          .filter(Boolean),
      ),
      v.array(v.pipe(v.string(), v.email("must be e-mail addresses, separated by commas."))),
    ),
    "",
  ),
  JWT_ISSUER_DOMAIN: v.optional(address(["http:", "https:"], "https://your-app.clerk.accounts.dev")),
  CLERK_SECRET_KEY: v.optional(
    v.pipe(v.string(), v.startsWith("sk_", "must be Clerk's secret key; it begins with sk_.")),
  ),
  CLERK_PUBLISHABLE_KEY: v.optional(
    v.pipe(v.string(), v.startsWith("pk_", "must be Clerk's publishable key; it begins with pk_.")),
  ),
  CLERK_JWT_KEY: v.optional(v.string()),
  CLERK_API_URL: v.optional(address(["http:", "https:"], "https://api.clerk.com")),
  CLERK_PROXY_URL: v.optional(v.string()),
  CLERK_JS_URL: v.optional(v.string()),
  CLERK_UI_URL: v.optional(v.string()),
  SMTP_URL: v.optional(address(["smtp:", "smtps:"], "smtp://user:password@host:587")),
  MAIL_FROM: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (value) => !/[\r\n]/.test(value) && value.includes("@"),
        "must be an address such as Tideline <hello@example.org>.",
      ),
    ),
    "Tideline <tideline@localhost>",
  ),
  MAIL_INBOX_PORT: v.optional(wholeNumber("the port of the local mail inbox", 0, 65_535), "8025"),
  AI_GATEWAY_API_KEY: v.optional(v.string()),
  AI_GATEWAY_BASE_URL: v.optional(
    address(["http:", "https:"], "https://ai-gateway.vercel.sh/v1"),
    "https://ai-gateway.vercel.sh/v1",
  ),
  AI_GATEWAY_API: v.optional(v.picklist(["chat", "responses"], "must be chat or responses."), "chat"),
  CHAT_MODEL: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(200),
      v.regex(/^[\x21-\x7e]+$/, "must be a model's name, without spaces."),
    ),
    "openai/gpt-5-mini",
  ),
  CHAT_SYSTEM_PROMPT: v.optional(
    v.string(),
    "You are Tideline's assistant. Answer briefly and plainly, in the language of the question. Use the tools when they help.",
  ),
  CHAT_MAX_STEPS: v.optional(wholeNumber("the most model steps in one answer", 1, 50), "5"),
  CHAT_RATE_LIMIT: v.optional(wholeNumber("chat requests per minute", 1, 100_000), "20"),
  DOCS_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (value) =>
          /^\/(?![/\\])/.test(value) || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)),
        "must be a path of this site or an address such as https://docs.example.org.",
      ),
    ),
  ),
  FILES_MAX_SIZE: v.optional(byteCount("the largest file"), "100MB"),
  FILES_QUOTA_FREE: v.optional(
    byteCount("what the files of a user on the free plan may take together"),
    "1GB",
  ),
  FILES_QUOTA_PRO: v.optional(
    byteCount("what the files of a user on the pro plan may take together"),
    "100GB",
  ),
  BLOBS_URL: v.optional(address(["file:"], "file:///var/lib/tideline/blobs")),
})

type Settings = v.InferOutput<typeof Environment>

function describeIssue(issue: v.BaseIssue<unknown>) {
  const name = String(issue.path?.[0]?.key ?? "settings")
  return `${name} ${issue.message}`
}

/** What no single variable shows: half-configured providers, and embedded services on a public address. */
function* combinationProblems(settings: Settings, appUrl: URL) {
  const { CLERK_SECRET_KEY, CLERK_PUBLISHABLE_KEY, JWT_ISSUER_DOMAIN } = settings
  const clerk = CLERK_SECRET_KEY !== undefined || CLERK_PUBLISHABLE_KEY !== undefined
  if (clerk && !CLERK_SECRET_KEY)
    yield "CLERK_SECRET_KEY is missing, and CLERK_PUBLISHABLE_KEY is set. Set both or neither."
  if (clerk && !CLERK_PUBLISHABLE_KEY)
    yield "CLERK_PUBLISHABLE_KEY is missing, and CLERK_SECRET_KEY is set. Set both or neither."
  if (clerk && !JWT_ISSUER_DOMAIN)
    yield "JWT_ISSUER_DOMAIN is missing. With Clerk it is your Frontend API address."
  if (!settings.AUTH_SECRET) {
    yield "AUTH_SECRET is missing. It signs sessions and realtime positions. Make one with: openssl rand -base64 32"
  }
  if (isLocal(appUrl)) return
  if (!settings.SMTP_URL)
    yield `SMTP_URL is missing. The local mail inbox is for localhost only, and APP_URL is ${appUrl.origin}.`
  if (settings.AI_GATEWAY_API_KEY === EMBEDDED_GATEWAY_KEY) {
    yield `AI_GATEWAY_API_KEY is "embedded". The development gateway is for localhost only, and APP_URL is ${appUrl.origin}. Set a gateway's key, or leave it empty to switch the chat off.`
  }
}

function isLocal(url: URL) {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) || url.hostname.endsWith(".localhost")
}

function identityConfig(settings: Settings, appUrl: URL) {
  const authSecret = required(settings.AUTH_SECRET)
  const issuer = (settings.JWT_ISSUER_DOMAIN ?? appUrl.origin).replace(/\/$/, "")
  if (settings.CLERK_SECRET_KEY && settings.CLERK_PUBLISHABLE_KEY) {
    return {
      kind: "clerk" as const,
      issuer,
      authSecret,
      secretKey: settings.CLERK_SECRET_KEY,
      publishableKey: settings.CLERK_PUBLISHABLE_KEY,
      jwtKey: settings.CLERK_JWT_KEY,
      apiUrl: settings.CLERK_API_URL,
      proxyUrl: settings.CLERK_PROXY_URL,
      clerkJsUrl: settings.CLERK_JS_URL,
      clerkUiUrl: settings.CLERK_UI_URL,
    }
  }
  return { kind: "embedded" as const, issuer, authSecret, signup: settings.SIGNUP }
}

function gatewayConfig(settings: Settings) {
  const key = settings.AI_GATEWAY_API_KEY
  if (!key) return { kind: "missing" as const }
  if (key === EMBEDDED_GATEWAY_KEY) return { kind: "embedded" as const }
  const baseUrl = settings.AI_GATEWAY_BASE_URL.replace(/\/+$/, "")
  return {
    kind: "remote" as const,
    key,
    baseUrl: new URL(baseUrl).pathname === "/" ? `${baseUrl}/v1` : baseUrl,
    api: settings.AI_GATEWAY_API,
  }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("A setting that was checked before is missing.")
  return value
}
