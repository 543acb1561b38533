import { Provider } from "oidc-provider"
import { generateKeyPair, exportJWK } from "jose"

// Run as a program: an OpenID provider at the given port, for one client. Anyone can sign in with
// any password; their email address is their name at example.org.
const [port, origin, name] = process.argv.slice(2)
const { privateKey } = await generateKeyPair("RS256", { extractable: true })
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "tideline",
      client_secret: "a secret of the client",
      redirect_uris: [`${origin}/sign-in/with/${name}/callback`],
      post_logout_redirect_uris: [`${origin}/`],
      backchannel_logout_uri: `${origin}/api/sso/${name}/logout`,
      backchannel_logout_session_required: false,
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "one" }] },
  cookies: { keys: ["a secret of the provider"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
  findAccount: (_: unknown, id: string) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.org`,
      email_verified: true,
      name: `${id} of the provider`,
    }),
  }),
  // Its own fetch refuses loopback addresses.
  fetch: (url: string, options: RequestInit) => fetch(url, Object.assign(options, { dispatcher: undefined })),
  ttl: { Session: 3600, Interaction: 3600, Grant: 3600 },
})
provider.on("server_error", (_, error) => process.stderr.write(`${String(error)}\n`))
provider.on("backchannel.error", (_, error) => process.stderr.write(`${String(error)}\n`))
provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"))
