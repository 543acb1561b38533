import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as v from "valibot"
import { backupConfig, backupProblems, bucketAt } from "./backup-config.ts"
import type { PlanLimits } from "./plans/contract.ts"
import type { Plan } from "./ports/session.ts"
import type { SsoProvider } from "./ports/single-sign-on.ts"
import { Settings } from "./settings.ts"
import { readSsoProviders } from "./sso-settings.ts"

export type Config = ReturnType<typeof readConfig>

/**
 * Reads the settings. Pure: give it `process.env`. Throws one error that names every invalid or
 * missing variable and says what to do, without repeating a value.
 */
export function readConfig(environment: Record<string, string | undefined>) {
  const env = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  )
  const parsed = v.safeParse(Settings, env)
  if (!parsed.success) throw new ConfigError(parsed.issues.map((issue) => describeIssue(issue)))

  const settings = parsed.output
  const appUrl = new URL(settings.APP_URL ?? `http://localhost:${settings.PORT}`)
  const { providers: sso, problems: ssoProblems } = readSsoProviders(env)
  const problems = [...combinationProblems(settings, appUrl), ...ssoProblems]
  if (settings.CLERK_SECRET_KEY && sso.length > 0)
    problems.push("OIDC_... settings are for the embedded provider. With Clerk, set the providers up there.")
  if (settings.SIGNUP === "sso" && sso.length === 0 && ssoProblems.length === 0)
    problems.push(
      'SIGNUP is "sso", and no provider is set. Set OIDC_<NAME>_ISSUER and the settings beside it.',
    )
  if (problems.length > 0) throw new ConfigError(problems)

  const dataDir = resolve(settings.DATA_DIR)
  return {
    production: settings.NODE_ENV === "production",
    logLevel: settings.LOG_LEVEL,
    port: settings.PORT,
    host: settings.HOST,
    /** The address for probes and metrics; null if they are not served. */
    ops: settings.OPS_PORT === undefined ? null : { port: settings.OPS_PORT, host: settings.OPS_HOST },
    /** Milliseconds for which a process still accepts requests after it was told to stop. */
    drainDelay: settings.DRAIN_DELAY * 1000,
    /** The URL of the trace collector; null without tracing. */
    tracing: settings.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, ""),
          headers: settings.OTEL_EXPORTER_OTLP_HEADERS ?? {},
          service: settings.OTEL_SERVICE_NAME,
          /** Share of requests to trace, from 0 to 1. */
          part: settings.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    /** The URL that names the newest release; null if nobody is asked. */
    releasesUrl: settings.RELEASES_URL ?? null,
    /** The contact for vulnerability reports, as a URL; null if none is configured. */
    securityContact: settings.SECURITY_CONTACT ?? null,
    /**
     * Recognises the operator's own proxies, which append the caller's address to x-forwarded-for;
     * null if there are none.
     */
    trustsProxy: settings.TRUSTED_PROXIES,
    /** The public origin, without a trailing slash. */
    origin: appUrl.origin,
    dataDir,
    database: settings.DATABASE_URL
      ? {
          kind: "external" as const,
          url: settings.DATABASE_URL,
          /**
           * The URL of PostgreSQL itself if `url` may be that of a pooler; null if `url` is
           * PostgreSQL itself.
           */
          streamUrl: settings.DATABASE_STREAM_URL ?? null,
        }
      : { kind: "embedded" as const, directory: resolve(dataDir, "postgres") },
    /** The most connections that this process opens, besides its stream. */
    databaseConnections: settings.DATABASE_CONNECTIONS,
    /** Standbys to read from, and how many of them have what is shown. */
    follow: followConfig(settings),
    identity: identityConfig(settings, appUrl, sso),
    adminEmails: settings.ADMIN_EMAILS,
    /** Days for which the security log keeps an entry. */
    securityLogDays: settings.SECURITY_LOG_DAYS,
    mail: {
      from: settings.MAIL_FROM,
      /** Who may receive mail from /api/email. On localhost nobody else can reach it. */
      apiRecipients: settings.EMAIL_API_RECIPIENTS ?? (isLocal(appUrl) ? "everyone" : "confirmed"),
      ...(settings.SMTP_URL
        ? { kind: "smtp" as const, url: settings.SMTP_URL }
        : {
            kind: "embedded" as const,
            inboxHost: settings.MAIL_INBOX_HOST,
            inboxPort: settings.MAIL_INBOX_PORT,
          }),
    },
    chat: {
      gateway: gatewayConfig(settings),
      model: settings.CHAT_MODEL ?? defaultModel(settings),
      systemPrompt: settings.CHAT_SYSTEM_PROMPT,
      maxSteps: settings.CHAT_MAX_STEPS,
      maxOutputTokens: settings.CHAT_MAX_OUTPUT_TOKENS,
      contextTokens: settings.CHAT_CONTEXT_TOKENS,
      tools: settings.CHAT_TOOLS,
      /**
       * Milliseconds that the model may take for a reply that is streamed to its reader, and for
       * one that is read from the records.
       */
      timeLimits: {
        streamed: settings.CHAT_TIME_LIMIT * 1000 - AROUND_AN_ANSWER,
        recorded: settings.CHAT_TIME_LIMIT_DASHBOARD * 1000 - AROUND_AN_ANSWER,
      },
    },
    plans: planLimits(settings),
    /** Whether visitors may move the boats on the start page. */
    hasDemo: settings.DEMO === "on",
    /** Whether people may create spaces. Spaces that exist keep working without it. */
    hasSpaces: settings.SPACES === "on",
    spacesPerPerson: settings.SPACES_PER_PERSON,
    /** The space that new accounts join, and as what. */
    spaceForEveryone:
      settings.SPACE_FOR_EVERYONE === undefined
        ? null
        : { slug: settings.SPACE_FOR_EVERYONE, role: settings.SPACE_FOR_EVERYONE_ROLE },
    docsUrl: settings.DOCS_URL ?? "/docs/introduction",
    files: {
      uploadHours: settings.FILES_UPLOAD_HOURS,
      unfinishedLimit: settings.FILES_UNFINISHED_LIMIT,
      trashDays: settings.FILES_TRASH_DAYS,
    },
    blobs: blobsConfig(settings, dataDir),
    ...backupConfig(settings, dataDir),
  }
}

/**
 * Milliseconds of a time limit that are reserved for what happens before and after the model's
 * reply.
 */
const AROUND_AN_ANSWER = 1000

/** The value of `AI_GATEWAY_API_KEY` that selects the development gateway. */
const EMBEDDED_GATEWAY_KEY = "embedded"

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

function describeIssue(issue: v.BaseIssue<unknown>) {
  const name = issue.path?.[0]?.key
  return `${typeof name === "string" ? name : "The settings"} ${issue.message}`
}

/**
 * Checks that involve several variables: half-configured providers, and embedded services on a
 * public address.
 */
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
  if (settings.DATABASE_STREAM_URL && !settings.DATABASE_URL)
    yield "DATABASE_STREAM_URL is set, and DATABASE_URL is not. Set DATABASE_URL too: to a pooler, or to the same address."
  yield* backupProblems(settings)
  yield* followProblems(settings)
  yield* bucketProblems(settings)
  if (isLocal(appUrl)) return
  if (!settings.SMTP_URL)
    yield `SMTP_URL is missing. The local mail inbox is for localhost only, and APP_URL is ${appUrl.origin}.`
  if (settings.AI_GATEWAY_API_KEY === EMBEDDED_GATEWAY_KEY) {
    yield `AI_GATEWAY_API_KEY is "embedded". The development gateway is for localhost only, and APP_URL is ${appUrl.origin}. Set a gateway's key, or leave it empty to switch the chat off.`
  }
}

/**
 * Unless it is said, most of the servers have a commit before it is shown: one of any that are left
 * then has it. With fewer than three the loss of one would stop everything.
 */
function followConfig({ FOLLOW_DATABASE_URL: urls = [], FOLLOW_CONFIRMED_BY }: Settings) {
  const most = urls.length < 3 ? 0 : Math.floor(urls.length / 2) + 1
  return { urls, confirmedBy: FOLLOW_CONFIRMED_BY ?? most }
}

function* followProblems({ DATABASE_URL, FOLLOW_DATABASE_URL = [], FOLLOW_CONFIRMED_BY }: Settings) {
  if (FOLLOW_DATABASE_URL.length > 0 && !DATABASE_URL)
    yield "FOLLOW_DATABASE_URL is set, and DATABASE_URL is not. Set DATABASE_URL to the primary that the standbys follow."
  if (FOLLOW_CONFIRMED_BY !== undefined && FOLLOW_CONFIRMED_BY > FOLLOW_DATABASE_URL.length)
    yield `FOLLOW_CONFIRMED_BY is ${FOLLOW_CONFIRMED_BY}, and FOLLOW_DATABASE_URL names ${FOLLOW_DATABASE_URL.length} servers. Name more, or set it lower.`
}

function* bucketProblems(settings: Settings) {
  const { BACKUP_URL, BLOBS_URL, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = settings
  if ((S3_ACCESS_KEY_ID === undefined) !== (S3_SECRET_ACCESS_KEY === undefined))
    yield "S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together. Set both or neither."
  const isBucket = BLOBS_URL?.startsWith("s3:")
  if (S3_ENDPOINT && !isBucket && !BACKUP_URL)
    yield "S3_ENDPOINT is set, and BLOBS_URL names no bucket. Set BLOBS_URL=s3://bucket, or leave S3_ENDPOINT out."
  if (isBucket && BLOBS_URL && !new URL(BLOBS_URL).hostname)
    yield "BLOBS_URL names no bucket. It is s3://bucket, or s3://bucket/folder."
}

function isLocal(url: URL) {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) || url.hostname.endsWith(".localhost")
}

function identityConfig(settings: Settings, appUrl: URL, sso: SsoProvider[]) {
  const authSecret = required(settings.AUTH_SECRET)
  const issuer = (settings.JWT_ISSUER_DOMAIN ?? appUrl.origin).replace(/\/$/, "")
  if (settings.CLERK_SECRET_KEY && settings.CLERK_PUBLISHABLE_KEY) {
    return {
      kind: "clerk" as const,
      issuer,
      authSecret,
      signup: settings.SIGNUP,
      secretKey: settings.CLERK_SECRET_KEY,
      publishableKey: settings.CLERK_PUBLISHABLE_KEY,
      webhookSecret: settings.CLERK_WEBHOOK_SIGNING_SECRET,
      jwtKey: settings.CLERK_JWT_KEY,
      apiUrl: settings.CLERK_API_URL,
      proxyUrl: settings.CLERK_PROXY_URL,
      clerkJsUrl: settings.CLERK_JS_URL,
      clerkUiUrl: settings.CLERK_UI_URL,
    }
  }
  const { SIGNUP: signup, EMAIL_VERIFICATION: verification, SECOND_FACTOR: secondFactor } = settings
  return { kind: "embedded" as const, issuer, authSecret, signup, verification, secondFactor, sso }
}

/** Without a setting, the pro plan's limit is at least the free plan's. */
function planLimits(settings: Settings): Record<Plan, PlanLimits> {
  const { CHAT_RATE_LIMIT, CHAT_TURNS_AT_ONCE, FILES_MAX_SIZE } = settings
  return {
    free: {
      quota: settings.FILES_QUOTA_FREE,
      files: settings.FILES_COUNT_FREE,
      largestFile: FILES_MAX_SIZE,
      chatPerMinute: CHAT_RATE_LIMIT,
      concurrentReplies: CHAT_TURNS_AT_ONCE,
    },
    pro: {
      quota: settings.FILES_QUOTA_PRO,
      files: settings.FILES_COUNT_PRO,
      largestFile: settings.FILES_MAX_SIZE_PRO ?? Math.max(1e9, FILES_MAX_SIZE),
      chatPerMinute: settings.CHAT_RATE_LIMIT_PRO ?? Math.max(60, CHAT_RATE_LIMIT),
      concurrentReplies: settings.CHAT_TURNS_AT_ONCE_PRO ?? Math.max(6, CHAT_TURNS_AT_ONCE),
    },
  }
}

/**
 * A real model's name must not appear on a reply that no model generated, unless the operator set
 * it.
 */
function defaultModel(settings: Settings) {
  return settings.AI_GATEWAY_API_KEY === EMBEDDED_GATEWAY_KEY ? "development/no-model" : "openai/gpt-5-mini"
}

function blobsConfig(settings: Settings, dataDir: string) {
  const url = settings.BLOBS_URL ? new URL(settings.BLOBS_URL) : null
  if (url?.protocol !== "s3:")
    return { kind: "disk" as const, directory: url ? fileURLToPath(url) : resolve(dataDir, "blobs") }
  return { kind: "s3" as const, ...bucketAt(url, settings) }
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
