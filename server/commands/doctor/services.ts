import { buffer } from "node:stream/consumers"
import { reasonOf } from "#live/check"
import { checkSmtp } from "#server/adapters/mail/smtp.ts"
import type { Config } from "#server/config.ts"
import { tryStore } from "#server/files/store-refusals.ts"
import { judgeRelease, readRelease } from "#server/operator/releases.ts"
import { readCertificate } from "#server/ops/certificate.ts"
import { judgeCertificate, judgeDisk, judgeStore } from "#server/ops/concerns.ts"
import { findFreeSpace } from "#server/ops/disk.ts"
import { openBlobs } from "#server/services.ts"
import { formatBytes } from "#server/text-contract.ts"
import { version } from "#server/version.ts"
import { concerned, ok, problem, warning, type Finding } from "#server/ops/finding.ts"

const TIMEOUT = 10_000
const DAY = 24 * 60 * 60 * 1000

/** What a process needs besides its database and its backups. */
export async function checkServices(config: Config): Promise<Finding[]> {
  const found = await Promise.all([
    checkFiles(config),
    checkDisk(config),
    checkMail(config),
    checkModel(config),
    checkAddress(config),
    checkVersion(config),
  ])
  return [...found.flat(), ...checkOperators(config)]
}

/** Stores a file, reads it and removes it. */
async function checkFiles(config: Config): Promise<Finding> {
  const { kind } = config.blobs
  const place = kind === "s3" ? `the bucket ${config.blobs.bucket}` : config.blobs.directory
  try {
    const blobs = await openBlobs(config)
    const [refused] = judgeStore(await tryStore(blobs))
    if (refused) return problem("Files", refused.what.message)
    const key = blobs.newKey()
    const bytes = Buffer.from("Written by npm run doctor, and removed again.")
    await blobs.put(key, oneChunk(bytes), { limit: bytes.length })
    const stream = await blobs.open(key)
    const isSame = stream !== null && (await buffer(stream)).equals(bytes)
    await blobs.remove(key)
    return isSame
      ? ok("Files", `They can be written to ${place}, read and removed.`)
      : problem("Files", `What was written to ${place} was not what was read.`)
  } catch (error) {
    return problem("Files", `They cannot be stored in ${place}: ${reasonOf(error)}`)
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}

async function checkDisk(config: Config): Promise<Finding[]> {
  const space = await findFreeSpace(config)
  if (!space) return []
  const { folder, free } = space
  return concerned("Disk", judgeDisk(free), `${formatBytes(free)} are free on the disk of ${folder}.`)
}

async function checkMail({ mail }: Config): Promise<Finding> {
  if (mail.kind === "embedded") return ok("Mail", "Emails go to the local inbox.")
  try {
    await checkSmtp(mail.url)
    return ok("Mail", `${new URL(mail.url).host} accepts the sign-in. No email was sent.`)
  } catch (error) {
    return problem("Mail", `SMTP_URL does not work: ${reasonOf(error)}`)
  }
}

/** Requests the list of models, which is free of charge. */
async function checkModel({ chat }: Config): Promise<Finding> {
  const { gateway } = chat
  if (gateway.kind === "missing")
    return warning("Model", "The chat is off, because AI_GATEWAY_API_KEY is not set.")
  if (gateway.kind === "embedded") return ok("Model", "The development gateway replies.")
  try {
    const { status } = await fetch(`${gateway.baseUrl}/models`, {
      headers: { authorization: `Bearer ${gateway.key}` },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    })
    if (status === 401 || status === 403)
      return problem("Model", `${gateway.baseUrl} refuses AI_GATEWAY_API_KEY with ${status}.`)
    // Not every model server lists its models.
    if (status === 200 || status === 404) return ok("Model", `${gateway.baseUrl} answers.`)
    return warning("Model", `${gateway.baseUrl} answers a request for its models with ${status}.`)
  } catch (error) {
    return problem("Model", `AI_GATEWAY_BASE_URL does not answer: ${reasonOf(error)}`)
  }
}

/** The certificate of the public URL, and its proxy. */
async function checkAddress(config: Config): Promise<Finding[]> {
  const url = new URL(config.origin)
  if (url.protocol !== "https:") return [ok("Address", `${config.origin}, without encryption.`)]
  const findings = await checkCertificate(url)
  if (config.trustsProxy === null)
    findings.push(
      warning(
        "Proxy",
        "TRUSTED_PROXIES is not set, so every visitor appears to have the proxy's address, and shares its limits. Set it to the proxy's address.",
      ),
    )
  return findings
}

async function checkCertificate(url: URL): Promise<Finding[]> {
  const what = "Certificate"
  try {
    const certificate = await readCertificate(url)
    const days = Math.floor((certificate.expiresAt - Date.now()) / DAY)
    const found = `The certificate of ${url.host} is valid for ${days} more days.`
    return concerned(what, judgeCertificate(certificate, Date.now()), found)
  } catch (error) {
    return [warning(what, `${url.host} cannot be reached from here: ${reasonOf(error)}`)]
  }
}

/** Asks now, as the running process does once a day. */
async function checkVersion({ releasesUrl }: Config): Promise<Finding[]> {
  const what = "Version"
  if (releasesUrl === null) return [ok(what, `${version.number}. Set RELEASES_URL to hear of newer ones.`)]
  try {
    const newest = await readRelease(releasesUrl)
    const found = `${version.number} is the newest.`
    return concerned(what, judgeRelease({ newest, failed: false }, version.number), found)
  } catch (error) {
    return [warning(what, `${version.number}. RELEASES_URL cannot be read: ${reasonOf(error)}`)]
  }
}

function checkOperators({ adminEmails, identity }: Config): Finding[] {
  if (identity.kind === "clerk") return []
  return [
    adminEmails.length > 0
      ? ok("Operators", adminEmails.join(", "))
      : warning("Operators", "Nobody can open /admin. Set ADMIN_EMAILS to the addresses of those who may."),
  ]
}
