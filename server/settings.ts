import { Cron } from "croner"
import * as v from "valibot"
import { readDatabaseUrl, serversOf } from "#live/check"
import { KeepText, RecipientsText } from "./backup-settings.ts"
import { readTrustedProxies } from "./transport/client-address.ts"

/** The text of a setting that has a default, else undefined. */
type Text = string | undefined

const wholeNumber = <D extends Text = undefined>(what: string, least: number, most: number, unset?: D) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,9}$/, `must be a whole number: ${what}.`),
      v.transform(Number),
      v.minValue(least, `must be at least ${least}: ${what}.`),
      v.maxValue(most, `must be at most ${most}: ${what}.`),
    ),
    unset as D,
  )

const listed = new Intl.ListFormat("en-GB", { type: "disjunction" })

const oneOf = <const O extends string, D extends O | undefined = undefined>(options: O[], unset?: D) =>
  v.optional(v.picklist(options, `must be ${listed.format(options)}.`), unset as D)

const SPACE_SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/

const byteCount = <D extends Text = undefined>(what: string, unset?: D) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,9} *([KMGT]i?)?B?$/i, `must be a size such as 500MB, 2GiB or 1048576: ${what}.`),
      v.transform((value) => {
        const [, amount, unit] = /^(\d+) *(.*?)B?$/i.exec(value) ?? []
        return Number(amount) * (BYTES_PER_UNIT.get(unit?.toLowerCase() ?? "") ?? 1)
      }),
      v.maxValue(2 ** 50, `must be at most 1024TiB: ${what}.`),
    ),
    unset as D,
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

/** `read` returns undefined for a text that is refused. */
const readAs = <T, D extends Text = undefined>(
  read: (text: string) => T | undefined,
  refusal: string,
  unset?: D,
) =>
  v.optional(
    v.pipe(
      v.string(),
      v.transform(read),
      v.custom<T>((value) => value !== undefined, refusal),
    ),
    unset as D,
  )

const matching = <D extends Text = undefined>(test: (text: string) => boolean, refusal: string, unset?: D) =>
  readAs((text) => (test(text) ? text : undefined), refusal, unset)

const beginning = (start: string, what: string) =>
  matching((text) => text.startsWith(start), `must be ${what}; it begins with ${start}.`)

const address = <D extends Text = undefined>(protocols: string[], example: string, unset?: D) =>
  matching(
    (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
    `must be an address such as ${example}.${example.includes("password") ? ENCODED : ""}`,
    unset,
  )

/** What a URL with such a password is not, whose characters people do not suspect. */
const ENCODED =
  " Percent-encode every character of the user name and the password except A to Z, a to z, 0 to 9 and -._~ (an @ is %40)."

const databaseAddress = readAs(
  (text) => readDatabaseUrl(text) ?? undefined,
  "must be an address such as postgres://user:password@host:5432/tideline, or name several servers of which one accepts writes: postgres://user:password@one:5432,two:5432/tideline?target_session_attrs=read-write." +
    ENCODED,
)

const standbyAddresses = readAs(
  readStandbyUrls,
  "must be addresses separated by commas: postgres://user:password@one:5432/tideline,postgres://user:password@two:5432/tideline",
)

function readStandbyUrls(text: string): string[] | undefined {
  const texts = text.split(/,(?=postgres(?:ql)?:)/)
  const urls = texts.map((each) => readDatabaseUrl(each.trim())).filter((url) => url !== null)
  return urls.length === texts.length && urls.every((url) => serversOf(url).length === 1) ? urls : undefined
}

function isSchedule(text: string): boolean {
  if (text.trim().split(/\s+/).length !== 5) return false
  try {
    return new Cron(text, { paused: true }).nextRun() !== null
  } catch {
    return false
  }
}

/**
 * In OpenTelemetry's format: `name=value,name=value`, with URL-encoded values. Undefined for
 * anything else.
 */
function readHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  for (const part of text.split(",")) {
    const [, name, value = ""] = /^\s*([\w-]+)\s*=(.*)$/.exec(part) ?? []
    if (name === undefined || /%(?![2-7][0-9a-f])/i.test(value)) return undefined
    headers[name] = decodeURIComponent(value.trim())
  }
  return headers
}

/**
 * Every variable that Tideline reads from the environment, as text. readConfig makes the checks
 * that involve several.
 */
export const Settings = v.object({
  NODE_ENV: v.optional(v.string()),
  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "silent"], "info"),
  PORT: wholeNumber("the port to listen on", 1, 65_535, "3000"),
  HOST: v.optional(v.string(), "0.0.0.0"),
  OPS_PORT: wholeNumber("the port of probes and metrics", 1, 65_535),
  OPS_HOST: v.optional(v.string(), "127.0.0.1"),
  DRAIN_DELAY: wholeNumber(
    "for how many seconds a process that is told to stop goes on taking requests",
    0,
    120,
    "0",
  ),
  TRUSTED_PROXIES: readAs(
    readTrustedProxies,
    "must be how many proxies of yours stand in front (0 to 10), or their networks: 10.0.0.0/8, fd00::/8.",
    "0",
  ),
  APP_URL: v.pipe(
    address(["http:", "https:"], "https://tideline.example.org"),
    v.check((value) => {
      const { pathname, search, hash, username } = new URL(value ?? "https://tideline.example.org")
      return pathname === "/" && !search && !hash && !username
    }, "must be an origin alone, without path, query or user name: https://tideline.example.org."),
  ),
  RELEASES_URL: address(["http:", "https:"], "https://api.github.com/repos/example/tideline/releases/latest"),
  SECURITY_CONTACT: address(
    ["https:", "mailto:", "tel:"],
    "mailto:security@example.org or https://example.org/security",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: address(["http:", "https:"], "http://localhost:4318"),
  OTEL_EXPORTER_OTLP_HEADERS: readAs(readHeaders, "must be headers such as authorization=Bearer%20key,x=y."),
  OTEL_SERVICE_NAME: v.optional(v.pipe(v.string(), v.maxLength(200)), "tideline"),
  OTEL_TRACES_SAMPLER_ARG: v.optional(
    v.pipe(
      v.string(),
      v.transform(Number),
      v.number("must be a number from 0 to 1: the part of the requests that is traced."),
      v.minValue(0, "must be at least 0: the part of the requests that is traced."),
      v.maxValue(1, "must be at most 1: the part of the requests that is traced."),
    ),
    "1",
  ),
  DATA_DIR: v.optional(v.string(), ".data"),
  BACKUP_SCHEDULE: v.optional(
    v.union([
      v.literal("elsewhere"),
      v.pipe(
        v.string(),
        v.check(
          isSchedule,
          'must be five fields as cron has them, in UTC, such as "0 3 * * *" for three o\'clock every night; or elsewhere.',
        ),
      ),
    ]),
  ),
  BACKUP_DIR: v.optional(v.string()),
  BACKUP_KEEP: v.optional(KeepText, "7d 4w 6m"),
  BACKUP_HISTORY: wholeNumber("for how many days back any moment can be restored; 0 for none", 0, 3650, "0"),
  BACKUP_RECIPIENT: v.optional(RecipientsText, ""),
  BACKUP_URL: address(["s3:"], "s3://bucket/folder"),
  BACKUP_S3_ENDPOINT: address(["http:", "https:"], "https://s3.example.org"),
  BACKUP_S3_REGION: v.optional(v.pipe(v.string(), v.maxLength(100))),
  BACKUP_S3_ACCESS_KEY_ID: v.optional(v.string()),
  BACKUP_S3_SECRET_ACCESS_KEY: v.optional(v.string()),
  BACKUP_CHECK: oneOf(["restore", "read"], "restore"),
  DATABASE_URL: databaseAddress,
  DATABASE_STREAM_URL: databaseAddress,
  FOLLOW_DATABASE_URL: standbyAddresses,
  FOLLOW_CONFIRMED_BY: wholeNumber(
    "how many of the followed servers have a commit before it is shown",
    0,
    20,
  ),
  DATABASE_CONNECTIONS: wholeNumber(
    "the most connections to PostgreSQL that this process opens, besides its stream",
    8,
    200,
    "12",
  ),
  AUTH_SECRET: v.optional(
    v.pipe(
      v.string(),
      v.minLength(32, "must have at least 32 characters. Make one with: openssl rand -base64 32"),
    ),
  ),
  DEMO: oneOf(["on", "off"], "on"),
  SPACES: oneOf(["on", "off"], "on"),
  SPACES_PER_PERSON: wholeNumber("how many spaces one person may own", 1, 1000, "100"),
  SPACE_FOR_EVERYONE: v.optional(
    v.pipe(v.string(), v.regex(SPACE_SLUG, "must be the address of a space: team for /s/team.")),
  ),
  SPACE_FOR_EVERYONE_ROLE: oneOf(["editor", "reader"], "editor"),
  SIGNUP: oneOf(["open", "invited", "closed", "sso"], "open"),
  EMAIL_VERIFICATION: oneOf(["optional", "required"], "optional"),
  SECOND_FACTOR: oneOf(["optional", "required"], "optional"),
  SECURITY_LOG_DAYS: wholeNumber("for how many days the security log keeps an entry", 30, 3650, "365"),
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
  JWT_ISSUER_DOMAIN: address(["http:", "https:"], "https://your-app.clerk.accounts.dev"),
  CLERK_SECRET_KEY: beginning("sk_", "Clerk's secret key"),
  CLERK_PUBLISHABLE_KEY: beginning("pk_", "Clerk's publishable key"),
  CLERK_WEBHOOK_SIGNING_SECRET: beginning("whsec_", "the webhook's signing secret"),
  CLERK_JWT_KEY: v.optional(v.string()),
  CLERK_API_URL: address(["http:", "https:"], "https://api.clerk.com"),
  CLERK_PROXY_URL: v.optional(v.string()),
  CLERK_JS_URL: v.optional(v.string()),
  CLERK_UI_URL: v.optional(v.string()),
  SMTP_URL: address(["smtp:", "smtps:"], "smtp://user:password@host:587"),
  MAIL_FROM: matching(
    (text) => !/[\r\n]/.test(text) && text.includes("@"),
    "must be an address such as Tideline <hello@example.org>.",
    "Tideline <tideline@localhost>",
  ),
  EMAIL_API_RECIPIENTS: oneOf(["confirmed", "everyone"]),
  MAIL_INBOX_HOST: v.optional(v.string(), "127.0.0.1"),
  MAIL_INBOX_PORT: wholeNumber("the port of the local mail inbox", 0, 65_535, "8025"),
  AI_GATEWAY_API_KEY: v.optional(v.string()),
  AI_GATEWAY_BASE_URL: address(
    ["http:", "https:"],
    "https://ai-gateway.vercel.sh/v1",
    "https://ai-gateway.vercel.sh/v1",
  ),
  AI_GATEWAY_API: oneOf(["chat", "responses"], "chat"),
  CHAT_MODEL: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(200),
      v.regex(/^[\x21-\x7e]+$/, "must be a model's name, without spaces."),
    ),
  ),
  CHAT_SYSTEM_PROMPT: v.optional(
    v.string(),
    "You are Tideline's assistant. Answer briefly and plainly, in the language of the question. Use the tools when they help.",
  ),
  CHAT_MAX_STEPS: wholeNumber("the most model steps in one answer", 1, 50, "5"),
  CHAT_MAX_OUTPUT_TOKENS: wholeNumber(
    "the most tokens of one model step, thoughts included",
    16,
    1_000_000,
    "8192",
  ),
  CHAT_CONTEXT_TOKENS: wholeNumber("the tokens that the model's context holds", 1024, 100_000_000, "128000"),
  CHAT_TOOLS: oneOf(["auto", "on", "off"], "auto"),
  CHAT_TIME_LIMIT: wholeNumber("the most seconds that POST /api/chat streams an answer", 5, 3600, "30"),
  CHAT_TIME_LIMIT_DASHBOARD: wholeNumber("the most seconds of an answer in the dashboard", 5, 3600, "300"),
  CHAT_RATE_LIMIT: wholeNumber("chat requests per minute", 1, 100_000, "20"),
  CHAT_RATE_LIMIT_PRO: wholeNumber("chat requests per minute on the pro plan", 1, 100_000),
  CHAT_TURNS_AT_ONCE: wholeNumber("concurrent replies per person", 1, 1000, "3"),
  CHAT_TURNS_AT_ONCE_PRO: wholeNumber("the same on the pro plan", 1, 1000),
  DOCS_URL: matching(
    (text) => /^\/(?![/\\])/.test(text) || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)),
    "must be a path of this site or an address such as https://docs.example.org.",
  ),
  FILES_MAX_SIZE: byteCount("the largest file", "100MB"),
  FILES_MAX_SIZE_PRO: byteCount("the largest file on the pro plan"),
  FILES_QUOTA_FREE: byteCount("what the files of a user on the free plan may take together", "1GB"),
  FILES_QUOTA_PRO: byteCount("what the files of a user on the pro plan may take together", "100GB"),
  FILES_COUNT_FREE: wholeNumber("how many files a user on the free plan may have", 1, 1e9, "10000"),
  FILES_COUNT_PRO: wholeNumber("how many files a user on the pro plan may have", 1, 1e9, "100000"),
  FILES_UPLOAD_HOURS: wholeNumber("how many hours an upload waits for its next byte", 1, 8760, "24"),
  FILES_UNFINISHED_LIMIT: byteCount("what unfinished uploads of everybody may hold together", "100GB"),
  FILES_TRASH_DAYS: wholeNumber("how many days a file stays in the trash", 1, 3650, "30"),
  BLOBS_URL: address(["file:", "s3:"], "file:///var/lib/tideline/blobs or s3://bucket/folder"),
  S3_ENDPOINT: address(["http:", "https:"], "https://s3.example.org"),
  S3_REGION: v.optional(v.pipe(v.string(), v.maxLength(100)), "us-east-1"),
  S3_ACCESS_KEY_ID: v.optional(v.string()),
  S3_SECRET_ACCESS_KEY: v.optional(v.string()),
})

export type Settings = v.InferOutput<typeof Settings>
