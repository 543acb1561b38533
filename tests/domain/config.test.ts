import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseEnv } from "node:util"
import { describe, expect, it } from "vitest"
import { ConfigError, readConfig } from "#server/config.ts"
import { Settings } from "#server/settings.ts"

const AUTH_SECRET = "a secret of more than thirty-two characters"
const CLERK = {
  CLERK_SECRET_KEY: "sk_test_0123456789",
  CLERK_PUBLISHABLE_KEY: "pk_test_0123456789",
  JWT_ISSUER_DOMAIN: "https://calm-tide-1.clerk.accounts.dev",
}

it("shows what most of three or more followed servers have, unless another number is set", () => {
  const follow = (count: number, more: Record<string, string> = {}) => {
    const urls = Array.from({ length: count }, (_, at) => `postgres://tideline@server-${at}/tideline`)
    const DATABASE_URL = "postgres://tideline@server-0/tideline"
    return readConfig({ AUTH_SECRET, DATABASE_URL, FOLLOW_DATABASE_URL: urls.join(","), ...more }).follow
      .confirmedBy
  }
  expect([1, 2, 3, 4, 5].map((count) => follow(count))).toEqual([0, 0, 2, 3, 3])
  expect([follow(3, { FOLLOW_CONFIRMED_BY: "0" }), follow(2, { FOLLOW_CONFIRMED_BY: "2" })]).toEqual([0, 2])
  expect(readConfig({ AUTH_SECRET }).follow.confirmedBy).toBe(0)
})

describe("the settings", () => {
  it("require nothing but a secret", () => {
    expect(readConfig({ AUTH_SECRET })).toMatchObject({
      production: false,
      port: 3000,
      host: "0.0.0.0",
      trustsProxy: null,
      origin: "http://localhost:3000",
      dataDir: resolve(".data"),
      database: { kind: "embedded", directory: resolve(".data/postgres") },
      identity: { kind: "embedded", issuer: "http://localhost:3000", signup: "open" },
      adminEmails: [],
      mail: { kind: "embedded", inboxPort: 8025 },
      chat: {
        gateway: { kind: "missing" },
        maxSteps: 5,
        // A second less than the documented 30 s and five minutes, to allow for what precedes and
        // follows the model's text.
        timeLimits: { streamed: 29_000, recorded: 299_000 },
      },
      plans: {
        free: { quota: 1e9, largestFile: 100e6, chatPerMinute: 20, concurrentReplies: 3 },
        pro: { quota: 100e9, largestFile: 1e9, chatPerMinute: 60, concurrentReplies: 6 },
      },
      blobs: { kind: "disk", directory: resolve(".data/blobs") },
    })
  })

  it("never give Pro less than Free unless told to", () => {
    const generous = { FILES_MAX_SIZE: "5GB", CHAT_RATE_LIMIT: "100", CHAT_TURNS_AT_ONCE: "10" }
    const figures = { largestFile: 5e9, chatPerMinute: 100, concurrentReplies: 10 }
    expect(readConfig({ AUTH_SECRET, ...generous }).plans).toMatchObject({ free: figures, pro: figures })
    const own = { FILES_MAX_SIZE_PRO: "7MB", CHAT_RATE_LIMIT_PRO: "7", CHAT_TURNS_AT_ONCE_PRO: "7" }
    expect(readConfig({ AUTH_SECRET, ...own }).plans.pro).toMatchObject({
      largestFile: 7e6,
      chatPerMinute: 7,
      concurrentReplies: 7,
    })
  })

  it("derive the public URL from the port, unless it is set", () => {
    expect(readConfig({ AUTH_SECRET, PORT: "4000" }).origin).toBe("http://localhost:4000")
    expect(readConfig({ AUTH_SECRET, PORT: "4000", APP_URL: "http://localhost:8080/" }).origin).toBe(
      "http://localhost:8080",
    )
  })

  it("treat an empty variable as missing", () => {
    expect(readConfig({ AUTH_SECRET, PORT: "", APP_URL: "", DATABASE_URL: "", SMTP_URL: "" })).toEqual(
      readConfig({ AUTH_SECRET }),
    )
    expect(problemsOf({ AUTH_SECRET: "" })).toEqual([expect.stringMatching(/^AUTH_SECRET is missing/)])
  })

  it("are rejected with every wrong variable by name, and what to do", () => {
    const problems = problemsOf({
      PORT: "3000.5",
      APP_URL: "tideline.example.org",
      LOG_LEVEL: "loud",
      DRAIN_DELAY: "2s",
      TRUSTED_PROXIES: "two",
      DATABASE_URL: "mysql://host/db",
      AUTH_SECRET: "short",
      DEMO: "true",
      SIGNUP: "maybe",
      EMAIL_VERIFICATION: "yes",
      ADMIN_EMAILS: "ada@example.org, grace",
      SMTP_URL: "mail.example.org:587",
      CHAT_MAX_STEPS: "0",
      CHAT_RATE_LIMIT: "often",
      BLOBS_URL: "ftp://host/bucket",
      BACKUP_SCHEDULE: "every night",
      BACKUP_KEEP: "7 days",
      BACKUP_HISTORY: "a week",
      BACKUP_CHECK: "no",
      BACKUP_RECIPIENT: "age1a4ewd2x76vhjh9vnewrrxp0xz7nrhk4agsqjwk203g3uxyltmayq2puchq",
      BACKUP_URL: "https://bucket.example.org",
      DOCS_URL: "//elsewhere.example.org",
    })
    expect(problems).toEqual([
      expect.stringMatching(/^LOG_LEVEL must be trace, debug/),
      expect.stringMatching(/^PORT must be a whole number/),
      expect.stringMatching(/^DRAIN_DELAY must be a whole number/),
      expect.stringMatching(/^TRUSTED_PROXIES must be how many proxies/),
      expect.stringMatching(/^APP_URL must be an address such as https:/),
      expect.stringMatching(/^BACKUP_SCHEDULE must be five fields/),
      expect.stringMatching(/^BACKUP_KEEP must be how many/),
      expect.stringMatching(/^BACKUP_HISTORY must be a whole number/),
      expect.stringMatching(/^BACKUP_RECIPIENT must be recipients of age/),
      expect.stringMatching(/^BACKUP_URL must be an address such as s3:/),
      expect.stringMatching(/^BACKUP_CHECK must be restore or read/),
      expect.stringMatching(/^DATABASE_URL must be an address such as postgres:/),
      expect.stringMatching(/^AUTH_SECRET must have at least 32 characters/),
      expect.stringMatching(/^DEMO must be on or off/),
      expect.stringMatching(/^SIGNUP must be open, invited, closed or sso/),
      expect.stringMatching(/^EMAIL_VERIFICATION must be optional or required/),
      expect.stringMatching(/^ADMIN_EMAILS must be e-mail addresses/),
      expect.stringMatching(/^SMTP_URL must be an address such as smtp:/),
      expect.stringMatching(/^CHAT_MAX_STEPS must be at least 1/),
      expect.stringMatching(/^CHAT_RATE_LIMIT must be a whole number/),
      expect.stringMatching(/^DOCS_URL must be/),
      expect.stringMatching(/^BLOBS_URL must be an address such as file:/),
    ])
  })

  it.each(["0 3 * *", "0 0 3 * * *", "61 3 * * *", "@daily", "0 3 31 2 *"])(
    "reject the schedule %s",
    (schedule) => {
      expect(problemsOf({ BACKUP_SCHEDULE: schedule })).toEqual([
        expect.stringMatching(/^BACKUP_SCHEDULE must be five fields as cron has them/),
      ])
    },
  )

  it("say where scheduled backups go, and which are kept", () => {
    expect(readConfig({ AUTH_SECRET }).backups).toBeNull()
    expect(readConfig({ AUTH_SECRET, BACKUP_SCHEDULE: "0 3 * * *", DATA_DIR: "/data" }).backups).toEqual({
      schedule: "0 3 * * *",
      directory: "/data/backups",
      recipients: [],
      keep: { days: 7, weeks: 4, months: 6 },
      proof: "restored",
    })
    const chosen = {
      BACKUP_SCHEDULE: "*/5 * * * *",
      BACKUP_DIR: "/b",
      BACKUP_KEEP: "14",
      BACKUP_CHECK: "read",
    }
    expect(readConfig({ AUTH_SECRET, ...chosen }).backups).toMatchObject({
      directory: "/b",
      keep: { newest: 14 },
      proof: "read",
    })
  })

  it("say who can decrypt backups, and which bucket gets them", () => {
    const recipient = "age1a4ewd2x76vhjh9vnewrrxp0xz7nrhk4agsqjwk203g3uxyltmayq2puchh"
    const config = readConfig({
      AUTH_SECRET,
      BACKUP_RECIPIENT: `${recipient}, ${recipient}`,
      BACKUP_URL: "s3://backups/tideline/",
      BLOBS_URL: "s3://files",
      S3_ENDPOINT: "http://garage:3900",
      S3_REGION: "here",
      BACKUP_S3_ACCESS_KEY_ID: "an id",
      BACKUP_S3_SECRET_ACCESS_KEY: "a secret",
    })
    expect(config.backupRecipients).toEqual([recipient, recipient])
    // Its own keys are for another provider, whose address is not that of the files.
    expect(config.backupBucket).toEqual({
      bucket: "backups",
      prefix: "tideline",
      endpoint: undefined,
      region: "here",
      credentials: { accessKeyId: "an id", secretAccessKey: "a secret" },
    })
    const shared = { BACKUP_URL: "s3://backups", S3_ENDPOINT: "http://garage:3900" }
    expect(readConfig({ AUTH_SECRET, ...shared }).backupBucket?.endpoint).toBe("http://garage:3900")
    expect(problemsOf({ AUTH_SECRET, BACKUP_URL: "s3://one", BLOBS_URL: "s3://one" })).toEqual([
      expect.stringMatching(/^BACKUP_URL is the same as BLOBS_URL/),
    ])
    expect(problemsOf({ AUTH_SECRET, BACKUP_URL: "s3://one", BACKUP_S3_ACCESS_KEY_ID: "an id" })).toEqual([
      expect.stringMatching(/^BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY belong together/),
    ])
  })

  it("keep a history of so many days", () => {
    expect(readConfig({ AUTH_SECRET }).history).toBeNull()
    expect(readConfig({ AUTH_SECRET, BACKUP_HISTORY: "7", BACKUP_DIR: "/b" }).history).toEqual({
      directory: "/b/history",
      days: 7,
      state: "/b/history.json",
    })
  })

  it("say where a bucket is, and which of its settings are missing", () => {
    const bucket = { BLOBS_URL: "s3://files/some/folder/", S3_ENDPOINT: "http://garage:3900" }
    const keys = { S3_ACCESS_KEY_ID: "an id", S3_SECRET_ACCESS_KEY: "a secret" }
    expect(readConfig({ AUTH_SECRET: "s".repeat(32), ...bucket, ...keys }).blobs).toEqual({
      kind: "s3",
      bucket: "files",
      prefix: "some/folder",
      endpoint: "http://garage:3900",
      region: "us-east-1",
      credentials: { accessKeyId: "an id", secretAccessKey: "a secret" },
    })
    expect(problemsOf({ AUTH_SECRET: "s".repeat(32), ...bucket, S3_ACCESS_KEY_ID: "an id" })).toEqual([
      expect.stringContaining("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together."),
    ])
    expect(problemsOf({ AUTH_SECRET: "s".repeat(32), S3_ENDPOINT: "http://garage:3900" })).toEqual([
      expect.stringContaining("BLOBS_URL names no bucket."),
    ])
  })

  it("never reveal the value of a variable", () => {
    const secrets = {
      AUTH_SECRET: "tell-nobody-1",
      DATABASE_URL: "mysql://user:tell-nobody-2@host/db",
      SMTP_URL: "http://user:tell-nobody-3@host",
      CLERK_SECRET_KEY: "tell-nobody-4",
      CLERK_PUBLISHABLE_KEY: "tell-nobody-5",
      APP_URL: "https://user:tell-nobody-6@example.org",
    }
    const message = errorOf(secrets).message
    expect(message).not.toContain("tell-nobody")
    for (const name of Object.keys(secrets)) expect(message).toContain(name)
  })

  it("require the public URL to be a bare origin", () => {
    for (const APP_URL of [
      "https://example.org/app",
      "https://example.org/?a",
      "https://ada@example.org",
      "ftp://example.org",
    ]) {
      expect(problemsOf({ AUTH_SECRET, APP_URL }), APP_URL).toEqual([
        expect.stringMatching(/^APP_URL must be/),
      ])
    }
  })

  it("reject embedded mail and model on a public URL", () => {
    const problems = problemsOf({
      AUTH_SECRET,
      APP_URL: "https://tideline.example.org",
      AI_GATEWAY_API_KEY: "embedded",
    })
    expect(problems).toEqual([
      expect.stringMatching(/^SMTP_URL is missing/),
      expect.stringMatching(/^AI_GATEWAY_API_KEY is "embedded"/),
    ])
  })

  it("accept a public URL with real mail, with or without a model", () => {
    const settings = {
      AUTH_SECRET,
      APP_URL: "https://tideline.example.org",
      SMTP_URL: "smtps://user:word@mail.example.org",
    }
    expect(readConfig(settings).chat.gateway).toEqual({ kind: "missing" })
    expect(readConfig({ ...settings, AI_GATEWAY_API_KEY: "key" }).chat.gateway).toMatchObject({
      kind: "remote",
      key: "key",
    })
  })

  it("choose Clerk if all its settings are present", () => {
    expect(readConfig({ AUTH_SECRET, ...CLERK }).identity).toMatchObject({
      kind: "clerk",
      issuer: CLERK.JWT_ISSUER_DOMAIN,
      secretKey: CLERK.CLERK_SECRET_KEY,
      publishableKey: CLERK.CLERK_PUBLISHABLE_KEY,
    })
  })

  it("reject an incomplete Clerk configuration, and name what is missing", () => {
    for (const missing of Object.keys(CLERK)) {
      const half = Object.fromEntries(Object.entries(CLERK).filter(([name]) => name !== missing))
      expect(problemsOf({ AUTH_SECRET, ...half }), missing).toEqual([
        expect.stringMatching(new RegExp(`^${missing} is missing`)),
      ])
    }
  })

  it("use the gateway's URL as it is, with the version in its path", () => {
    expect(gatewayAt("https://models.example.org")).toMatchObject({
      baseUrl: "https://models.example.org/v1",
    })
    expect(gatewayAt("https://models.example.org/api/v2/")).toMatchObject({
      baseUrl: "https://models.example.org/api/v2",
    })
  })
})

describe("the model's name", () => {
  it("is the configured one, whichever gateway replies", () => {
    const name = { CHAT_MODEL: "example/model-1" }
    expect(readConfig({ AUTH_SECRET, AI_GATEWAY_API_KEY: "embedded", ...name }).chat.model).toBe(
      "example/model-1",
    )
    expect(readConfig({ AUTH_SECRET, AI_GATEWAY_API_KEY: "key", ...name }).chat.model).toBe("example/model-1")
  })

  it("is empty if no model is connected", () => {
    expect(readConfig({ AUTH_SECRET, AI_GATEWAY_API_KEY: "embedded" }).chat.model).toBe(
      "development/no-model",
    )
    expect(readConfig({ AUTH_SECRET, AI_GATEWAY_API_KEY: "key" }).chat.model).toBe("openai/gpt-5-mini")
  })
})

describe(".env.example", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../.env.example"), "utf8")

  it("gives a working configuration once the secret is generated", () => {
    const config = readConfig({ ...parseEnv(text), AUTH_SECRET })
    const { chat, ...rest } = readConfig({ AUTH_SECRET })
    const embedded = { gateway: { kind: "embedded" }, model: "development/no-model" }
    expect(config).toEqual({ ...rest, chat: { ...chat, ...embedded } })
  })

  it("lists every setting", () => {
    const settings = Object.keys(Settings.entries).filter((name) => name !== "NODE_ENV")
    expect(Object.keys(parseEnv(text)).toSorted()).toEqual(settings.toSorted())
  })
})

function gatewayAt(AI_GATEWAY_BASE_URL: string) {
  return readConfig({ AUTH_SECRET, AI_GATEWAY_API_KEY: "key", AI_GATEWAY_BASE_URL }).chat.gateway
}

function errorOf(environment: Record<string, string>): ConfigError {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error("These settings were accepted.")
}

function problemsOf(environment: Record<string, string>) {
  return errorOf(environment).problems
}

describe("the settings of single sign-on", () => {
  const PROVIDER = {
    OIDC_MAIN_ISSUER: "https://login.example.org/realms/main",
    OIDC_MAIN_CLIENT_ID: "tideline",
    OIDC_MAIN_CLIENT_SECRET: "a secret",
  }
  it("name providers, with a label and domains", () => {
    const more = { OIDC_MAIN_LABEL: "The company", OIDC_MAIN_DOMAINS: "Example.org, example.net" }
    expect(readConfig({ AUTH_SECRET, ...PROVIDER, ...more }).identity).toMatchObject({
      sso: [
        { name: "main", label: "The company", clientId: "tideline", domains: ["example.org", "example.net"] },
      ],
    })
    expect(readConfig({ AUTH_SECRET, ...PROVIDER }).identity).toMatchObject({
      sso: [{ label: "Main", domains: null }],
    })
  })

  it.each<[Record<string, string>, string]>([
    [{ OIDC_MAIN_ISSUER: "https://a.example.org" }, "OIDC_MAIN_CLIENT_ID is missing."],
    [
      { ...PROVIDER, OIDC_MAIN_ISSUER: "http://login.example.org" },
      "OIDC_MAIN_ISSUER must be the provider's issuer",
    ],
    [{ ...PROVIDER, OIDC_MAIN_DOMAINS: "@example" }, "OIDC_MAIN_DOMAINS must be domains"],
    [{ ...PROVIDER, OIDC_MAIN_SECRET: "x" }, "OIDC_MAIN_SECRET is unknown."],
    [
      Object.assign({}, PROVIDER, {
        OIDC_TWO_ISSUER: PROVIDER.OIDC_MAIN_ISSUER,
        OIDC_TWO_CLIENT_ID: "a",
        OIDC_TWO_CLIENT_SECRET: "b",
      }),
      "Two OIDC_<NAME>_ISSUER are the same.",
    ],
    [{ SIGNUP: "sso" }, 'SIGNUP is "sso", and no provider is set.'],
  ])("are refused with a reason and no value: %j", (env, reason) => {
    expect(() => readConfig({ AUTH_SECRET, ...env })).toThrow(reason)
  })
})
