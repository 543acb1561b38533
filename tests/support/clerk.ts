import { once } from "node:events"
import { createServer } from "node:http"
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from "jose"
import { portOf } from "./port-of.ts"

/** Clerk prefixes its tokens by kind. */
const KIND = { session: "cl_B7d4PD111AAA", template: "cl_B7d4PD222AAA" }

export const SECRET_KEY = "sk_live_for_tests_and_nothing_else"
/**
 * The Frontend API of an instance, which its tokens name as their issuer. Nothing listens there.
 */
export const ISSUER = "https://clerk.example.test"

export const PUBLISHABLE_KEY = publishableKeyOf(ISSUER)

/** Of a production instance: a development instance sends every visitor to Clerk first. */
export function publishableKeyOf(issuer: string): string {
  return `pk_live_${Buffer.from(`${new URL(issuer).host}$`).toString("base64")}`
}

type Claims = Record<string, unknown>

type Body = Record<string, string | undefined>

export interface ClerkUser {
  id: string
  /** Empty if Clerk knows none. */
  email: string
  name: [string, string]
  plan: "free" | "pro"
}

/**
 * The part of Clerk's Backend API that the server calls, over real HTTP, and an issuer of tokens
 * like Clerk's. It is ours, so it tests how the SDK is wired and not what Clerk does.
 */
export async function startClerk() {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true })
  const users = new Map<string, ClerkUser>()
  const apiKeys = new Map<string, string>()
  const revoked: string[] = []
  const asked: string[] = []
  const jwk = { ...(await exportJWK(publicKey)), kid: "ins_test", alg: "RS256", use: "sig" }

  const server = createServer((request, response) => {
    const path = `${request.method} ${request.url}`
    asked.push(path)
    let text = ""
    request.on("data", (chunk) => (text += chunk))
    request.on("end", () => {
      if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) return answer(401, { errors: [] })
      void reply(path, text ? (JSON.parse(text) as Body) : {}).then(([status, body]) => answer(status, body))
    })
    function answer(status: number, body: object) {
      // Without a charset: with one, the SDK takes the body for text.
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${portOf(server)}`

  async function reply(path: string, body: Body): Promise<[number, object]> {
    const [, userId = ""] = /^\w+ \/v1\/users\/(\w+)/.exec(path) ?? []
    const user = users.get(userId)
    if (/^GET \/v1\/users\/\w+\/billing\/subscription$/.test(path) && user) return [200, subscriptionOf(user)]
    if (/^PATCH \/v1\/users\/\w+$/.test(path) && user) {
      user.name = [body["first_name"] ?? user.name[0], body["last_name"] ?? user.name[1]]
      return [200, describeUser(user)]
    }
    if (/^GET \/v1\/users\/\w+$/.test(path) && user) return [200, describeUser(user)]
    if (/^DELETE \/v1\/users\/\w+$/.test(path) && users.delete(userId))
      return [200, { object: "user", id: userId, deleted: true }]
    if (path === "GET /v1/jwks") return [200, { keys: [jwk] }]

    const [, tokenOf, template] = /^POST \/v1\/sessions\/(\w+)\/tokens\/([\w-]+)$/.exec(path) ?? []
    if (tokenOf && template) {
      const sub = tokenOf.replace("sess_", "user_")
      const token = await mint(
        { sub, sid: tokenOf, aud: template, plan: users.get(sub)?.plan },
        { kind: "template" },
      )
      return [200, { object: "token", jwt: token }]
    }
    const [, sessionId] = /^POST \/v1\/sessions\/(\w+)\/revoke$/.exec(path) ?? []
    if (sessionId) {
      revoked.push(sessionId)
      return [200, { object: "session", id: sessionId, status: "revoked" }]
    }
    if (path === "POST /api_keys/verify") {
      const subject = apiKeys.get(body["secret"] ?? "")
      if (subject)
        return [
          200,
          {
            id: "ak_1",
            type: "api_key",
            name: "a script",
            subject,
            scopes: [],
            claims: null,
            revoked: false,
            expired: false,
          },
        ]
    }
    return [404, { errors: [{ code: "resource_not_found", message: "not found" }] }]
  }

  async function mint(
    claims: Claims,
    {
      kind = "session",
      key = privateKey,
      life = 60,
    }: { kind?: keyof typeof KIND; key?: CryptoKey; life?: number } = {},
  ) {
    const now = Math.floor(Date.now() / 1000)
    // A token with a negative lifetime was issued before that and has expired.
    const issuedAt = Math.min(now, now + life) - 1
    return new SignJWT({ iss: ISSUER, ...claims })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: "ins_test", cat: KIND[kind] })
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(now + life)
      .sign(key)
  }

  const jwtKey = await exportSPKI(publicKey)
  return {
    url,
    /** With which Tideline uses it. */
    settings: {
      CLERK_SECRET_KEY: SECRET_KEY,
      CLERK_PUBLISHABLE_KEY: PUBLISHABLE_KEY,
      CLERK_JWT_KEY: jwtKey,
      CLERK_API_URL: url,
      JWT_ISSUER_DOMAIN: url,
    },
    users,
    apiKeys,
    /** Ids of revoked sessions. */
    revoked,
    /** Method and path of each call. */
    asked,
    mint,
    jwtKey,
    close: () => server.close(),
  }
}

function describeUser({ id, email, name }: ClerkUser) {
  const address = {
    id: "idn_1",
    object: "email_address",
    email_address: email,
    verification: { status: "verified" },
    linked_to: [],
  }
  return {
    id,
    object: "user",
    first_name: name[0],
    last_name: name[1],
    image_url: `https://img.clerk.com/${id}`,
    primary_email_address_id: email ? "idn_1" : null,
    email_addresses: email ? [address] : [],
    phone_numbers: [],
    web3_wallets: [],
    external_accounts: [],
    enterprise_accounts: [],
    public_metadata: {},
    private_metadata: {},
    unsafe_metadata: {},
    created_at: Date.now(),
    updated_at: Date.now(),
  }
}

function subscriptionOf({ id, plan }: ClerkUser) {
  const item = {
    id: "csi_1",
    object: "commerce_subscription_item",
    status: "active",
    plan_period: "month",
    plan: {
      id: "cplan_1",
      object: "commerce_plan",
      slug: plan === "pro" ? "pro" : "free_user",
      name: plan,
      for_payer_type: "user",
      features: [],
    },
    plan_id: "cplan_1",
    period_start: Date.now(),
  }
  return {
    id: "csub_1",
    object: "commerce_subscription",
    status: "active",
    payer_id: id,
    subscription_items: [item],
  }
}
