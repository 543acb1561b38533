import { once } from "node:events"
import { createServer } from "node:tls"
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509"
import { portOf } from "./port-of.ts"

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

/** A server on this machine with a certificate of its own, which nobody vouches for. */
export async function openTlsServer(expiresAt: Date) {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=localhost",
    notBefore: new Date(expiresAt.getTime() - 90 * 24 * 60 * 60 * 1000),
    notAfter: expiresAt,
    signingAlgorithm: ALGORITHM,
    keys,
  })
  const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY")
  const server = createServer({ key, cert: certificate.toString("pem") })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { origin: `https://127.0.0.1:${portOf(server)}`, close: () => void server.close() }
}
