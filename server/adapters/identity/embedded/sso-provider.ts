import { createRemoteJWKSet, customFetch as joseFetch, type JWTVerifyGetKey } from "jose"
import * as client from "openid-client"
import type { SsoProvider } from "#server/ports/single-sign-on.ts"

/** Limits of a response from the provider: milliseconds and bytes. */
const LONGEST = 5000
const LARGEST = 1_000_000

/** Milliseconds for which the provider's discovery document is cached. */
const DESCRIPTION_LIFE = 60 * 60_000

export interface OpenProvider extends SsoProvider {
  /** Throws if the provider cannot be reached. Its response is cached for an hour. */
  configure(): Promise<client.Configuration>
  /** Verifies signatures with the provider's keys. */
  keys(): Promise<JWTVerifyGetKey>
}

export function openProvider(provider: SsoProvider): OpenProvider {
  let described: { at: number; config: Promise<client.Configuration> } | null = null
  let keys: { uri: string; get: JWTVerifyGetKey } | null = null

  function configure() {
    if (!described || Date.now() - described.at > DESCRIPTION_LIFE) {
      const config = describe(provider)
      const asked = { at: Date.now(), config }
      described = asked
      config.catch(() => {
        if (described === asked) described = null
      })
    }
    return described.config
  }

  return {
    ...provider,
    configure,
    async keys() {
      const uri = (await configure()).serverMetadata().jwks_uri
      if (!uri) throw new Error("The provider names no keys.")
      if (keys?.uri !== uri)
        keys = { uri, get: createRemoteJWKSet(new URL(uri), { [joseFetch]: fetchLimited }) }
      return keys.get
    },
  }
}

async function describe({ issuer, clientId, clientSecret }: SsoProvider): Promise<client.Configuration> {
  const isPlain = new URL(issuer).protocol === "http:"
  const found = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    [client.customFetch]: fetchLimited,
    execute: isPlain ? [client.allowInsecureRequests] : [],
    timeout: LONGEST / 1000,
  })
  const server = found.serverMetadata()
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
  const proof = methods.includes("client_secret_basic")
    ? client.ClientSecretBasic(clientSecret)
    : client.ClientSecretPost(clientSecret)
  const config = new client.Configuration(server, clientId, {}, proof)
  config[client.customFetch] = fetchLimited
  config.timeout = LONGEST / 1000
  if (isPlain) client.allowInsecureRequests(config)
  // Signatures of ID tokens are verified, although the tokens come from the provider directly.
  client.enableNonRepudiationChecks(config)
  return config
}

/** Redirects are not followed, and responses are limited in time and size. */
async function fetchLimited(url: string, options: object): Promise<Response> {
  const response = await fetch(url, {
    ...options,
    redirect: "manual",
    signal: AbortSignal.timeout(LONGEST),
  })
  const { status, statusText, headers } = response
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > LARGEST) throw new Error("The provider's response is larger than 1 MB.")
    chunks.push(chunk)
  }
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers })
}
