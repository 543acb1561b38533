import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose"
import { portOf } from "./port-of.ts"

/** A provider that responds as the test tells it to. */
export interface HostileProvider {
  issuer: string
  env: Record<string, string>
  /** Signs with its own key, or another one. */
  sign(claims: JWTPayload, options?: { typ?: string; byOther?: boolean }): Promise<string>
  /** Sets how its token endpoint responds from now on. */
  answer(write: (response: ServerResponse) => void): void
  /** Requests to the token endpoint. */
  requests: URLSearchParams[]
  close(): Promise<void>
}

export const CLIENT_ID = "tideline"
export const CLIENT_SECRET = "a secret of the client"

export async function openHostileProvider(name = "HOSTILE"): Promise<HostileProvider> {
  const own = await generateKeyPair("RS256")
  const other = await generateKeyPair("RS256")
  const key = { ...(await exportJWK(own.publicKey)), kid: "one", alg: "RS256", use: "sig" }
  const requests: URLSearchParams[] = []
  let write = fail
  const server = createServer((request, response) => {
    const json = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
    if (request.url === "/.well-known/openid-configuration") json(describe(issuer))
    else if (request.url === "/keys") json({ keys: [key] })
    else {
      let body = ""
      request.on("data", (chunk) => (body += String(chunk)))
      request.once("end", () => {
        requests.push(new URLSearchParams(body))
        write(response)
      })
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const issuer = `http://127.0.0.1:${portOf(server)}`
  return {
    issuer,
    env: {
      [`OIDC_${name}_ISSUER`]: issuer,
      [`OIDC_${name}_CLIENT_ID`]: CLIENT_ID,
      [`OIDC_${name}_CLIENT_SECRET`]: CLIENT_SECRET,
    },
    sign: (claims, { typ, byOther = false } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid: "one", ...(typ && { typ }) })
        .sign((byOther ? other : own).privateKey),
    answer(how) {
      write = how
    },
    requests,
    async close() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function fail(response: ServerResponse): void {
  response.writeHead(500).end()
}

function describe(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  }
}
