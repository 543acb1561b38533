import { resolve } from "node:path"
import { openDatabase, type Around } from "#db/client.ts"
import { migrate } from "#db/migrate.ts"
import { holdProcessLock } from "#db/process-lock.ts"
import { setTimeLimits } from "#db/time-limits.ts"
import { accountHooks } from "./accounts/identity-hooks.ts"
import { openHistory } from "./backup/history/open-history.ts"
import { startScheduledBackups } from "./backup/scheduled.ts"
import { createChunkWriter } from "./chat/chunk-writer.ts"
import { createReplies } from "./chat/replies.ts"
import { startAnsweringWaiting } from "./chat/answer-waiting.ts"
import { startEndingLostTurns } from "./chat/lost-turns.ts"
import { createRunningTurns } from "./chat/running-turns.ts"
import type { Config } from "./config.ts"
import { divideConnections, reachDatabase } from "./database.ts"
import { startPuttingBoatsBack } from "./demo/boats.ts"
import { openDemoStreams } from "./demo/demo.ts"
import { startFillingNameKeys } from "./files/name-keys.ts"
import { startRetyping } from "./files/retype.ts"
import { startPurgingTrash } from "./files/trash.ts"
import { startPurgingSpaces } from "./spaces/purge.ts"
import { startSendingMentions } from "./notifications/emails.ts"
import { startDiscardingLostUploads } from "./files/lost-uploads.ts"
import { startSweeping } from "./files/sweep.ts"
import { logRefusals } from "./files/store-refusals.ts"
import { openUploadLocks } from "./files/upload-locks.ts"
import { openUploadProgress } from "./files/upload-progress.ts"
import { openThumbnailer } from "./files/thumbnailer.ts"
import { createRateLimiter } from "./transport/rate-limit.ts"
import { openRunningRequests } from "./running-requests.ts"
import { openActivityExchange } from "./operator/activity-exchange.ts"
import { startWatchingReleases } from "./operator/releases.ts"
import { startWatchingClock } from "./ops/clock.ts"
import { watchCertificate } from "./ops/certificate.ts"
import { createSpendingLimiter } from "./transport/spending-limiter.ts"
import { announce, openLive } from "./live.ts"
import type { Log } from "./log.ts"
import { watchMaintenance } from "./maintenance/maintenance-mode.ts"
import { startPosting } from "./mail/posting.ts"
import { startDeletingOldRows } from "./old-rows.ts"
import { Opened } from "./opened.ts"
import type { Blobs } from "./ports/blobs.ts"
import type { Bucket } from "./ports/bucket.ts"
import type { Identity } from "./ports/identity.ts"
import type { Mail } from "./ports/mail.ts"
import type { Model } from "./ports/model.ts"
import type { Tracing } from "./ports/tracing.ts"
import type { EarlyServices, Services } from "./scope.ts"
import { version } from "./version.ts"

/**
 * The composition root: chooses an adapter for each port and opens it. `migrations` is the folder
 * of SQL files. `close` closes everything in reverse order; that also happens if a later one fails
 * to open.
 */
export async function openServices(config: Config, log: Log, migrations: string) {
  const opened = new Opened()
  const close = () => opened.close()
  try {
    const reached = await reachDatabase(config, log, opened)
    const { directUrl, poolerUrl } = reached
    await migrate(directUrl, migrations)
    const tracing = await openTracing(config, opened)
    await setTimeLimits(directUrl)
    const database = openDatabase(poolerUrl ?? directUrl, {
      pooled: poolerUrl !== null,
      connections: divideConnections(config.databaseConnections).requests,
      ...(tracing && { around: seen(tracing) }),
    })
    const { db, dbFor, probe } = opened.adopt(database, closing)
    const lock = opened.adopt(await holdProcessLock(directUrl), closing)
    const { mail, inbox } = await openMail(config, log, opened)
    const { blobs, history } = await openStores({ config, log, db }, directUrl, opened)
    const backups = startScheduledBackups(
      { config, log },
      {
        source: { databaseUrl: directUrl, blobs, version: version.number },
        migrations,
        openFolder: openBlobFolder,
        openBucket: config.backupBucket && (() => openBackupBucket(config)),
      },
    )
    opened.adopt(backups, stopping)
    const model = await openModel(config, tracing, opened)
    const thumbnailer = opened.adopt(openThumbnailer({ log }), closing)
    const services: EarlyServices = {
      config,
      log,
      process: lock.number,
      db,
      dbFor,
      probe,
      mail,
      identity: await openIdentity(config, { db, log }, opened),
      blobs,
      // Its first reading may take ten seconds, which no start waits for.
      certificate: opened.adopt(watchCertificate({ config, log }), stopping),
      backups,
      history,
      uploadLocks: opened.adopt(openUploadLocks({ announce, config, db, log }, directUrl), closing),
      runningRequests: openRunningRequests(),
      activityExchange: openActivityExchange({ announce, db, log, process: lock.number }),
      thumbnailer,
      model,
      replies: createReplies({ model, config, log, blobs, thumbnailer }),
      tracing,
      // After the database and the model, so that a turn interrupted at shutdown can still be stored.
      turns: opened.adopt(
        createRunningTurns({ process: lock.number, log, chunks: createChunkWriter({ db, log }) }),
        closing,
      ),
      limiters: createLimiters(config),
      afterCommit: (effect) => effect(db),
      announce,
    }
    for (const start of RECURRING) opened.adopt(start(services), stopping)
    const posting = opened.adopt(startPosting(services), stopping)
    const live = opened.adopt(await openLive(services, reached, lock, posting.announcements), closing)
    const maintenance = opened.adopt(await watchMaintenance(services, live), closing)
    if (config.hasDemo) opened.adopt(startPuttingBoatsBack(services), stopping)
    const demo = config.hasDemo ? opened.adopt(openDemoStreams({ live }), closing) : null
    const uploadProgress = opened.adopt(openUploadProgress({ live, log }), closing)
    return { services: { ...services, live, demo, uploadProgress }, maintenance, inbox, close }
  } catch (error) {
    await close()
    throw error
  }
}

const closing = (one: { close: () => Promise<void> | void }) => one.close()
const stopping = (one: { stop: () => Promise<void> | void }) => one.stop()

/** What a process does besides answering requests. */
const RECURRING = [
  startSweeping,
  startPurgingTrash,
  startFillingNameKeys,
  startRetyping,
  startEndingLostTurns,
  startDiscardingLostUploads,
  startDeletingOldRows,
  startAnsweringWaiting,
  startPurgingSpaces,
  startSendingMentions,
  startWatchingReleases,
  startWatchingClock,
]

async function openMail(
  config: Config,
  log: Log,
  opened: Opened,
): Promise<{ mail: Mail; inbox: string | null }> {
  const { openSmtpMail } = await import("./adapters/mail/smtp.ts")
  if (config.mail.kind === "smtp") {
    const mail = openSmtpMail({ url: config.mail.url, from: config.mail.from })
    return { mail: opened.adopt(mail, closing), inbox: null }
  }
  const { openLocalInbox } = await import("./adapters/mail/local-inbox.ts")
  const inbox = await openLocalInbox({
    host: config.mail.inboxHost,
    port: config.mail.inboxPort,
    directory: resolve(config.dataDir, "inbox"),
  })
  opened.adopt(inbox, closing)
  if (inbox.movedFrom) {
    log.warn({ port: inbox.movedFrom }, "MAIL_INBOX_PORT is in use; the local inbox moved to a free port")
  }
  log.info({ url: inbox.url }, "mail goes to the local inbox")
  const mail = openSmtpMail({ url: inbox.smtpUrl, from: config.mail.from })
  return { mail: opened.adopt(mail, closing), inbox: inbox.url }
}

async function openIdentity(
  config: Config,
  scope: Pick<Services, "db" | "log">,
  opened: Opened,
): Promise<Identity> {
  const { origin, identity: settings } = config
  if (settings.kind === "clerk") {
    const { openClerkIdentity } = await import("./adapters/identity/clerk.ts")
    return openClerkIdentity({ ...settings, origin, production: config.production, log: scope.log })
  }
  const { openEmbeddedIdentity } = await import("./adapters/identity/embedded.ts")
  const hooks = accountHooks(config, scope.log)
  return opened.adopt(await openEmbeddedIdentity({ ...settings, ...scope, origin, hooks }), closing)
}

/** The store of files' bytes. */
export async function openBlobs(config: Config): Promise<Blobs> {
  if (config.blobs.kind === "s3") {
    const { openS3Blobs } = await import("./adapters/blobs/s3.ts")
    return openS3Blobs(config.blobs)
  }
  const { openDiskBlobs } = await import("./adapters/blobs/disk.ts")
  return openDiskBlobs(config.blobs.directory)
}

/** A store in a folder of backups. */
export async function openBlobFolder(directory: string): Promise<Blobs> {
  const { openDiskBlobs } = await import("./adapters/blobs/disk.ts")
  return openDiskBlobs(directory)
}

/** The bucket of backups. Throws if there is none, or it cannot be used. */
export async function openBackupBucket({ backupBucket }: Pick<Config, "backupBucket">): Promise<Bucket> {
  if (!backupBucket) throw new Error("BACKUP_URL is not set. It names the bucket: s3://bucket/folder.")
  const { openBucket } = await import("./adapters/blobs/s3/bucket.ts")
  return openBucket(backupBucket, "BACKUP_URL and the BACKUP_S3_ settings")
}

/** The store of files' bytes, and what keeps bytes and rows of earlier moments. */
async function openStores(
  { config, log, db }: Pick<Services, "config" | "log" | "db">,
  url: string,
  opened: Opened,
): Promise<Pick<Services, "blobs" | "history">> {
  const store = logRefusals(await openBlobs(config), log)
  const kept = await openHistory({ config, log, db, blobs: store }, url, openBlobFolder)
  opened.adopt(kept.history, stopping)
  return kept
}

/** The SDK is only loaded if tracing is configured. */
async function openTracing({ tracing, trustsProxy }: Config, opened: Opened): Promise<Tracing | null> {
  if (!tracing) return null
  const { openOtlpTracing } = await import("./adapters/tracing/otlp.ts")
  return opened.adopt(openOtlpTracing({ ...tracing, version: version.number, trustsProxy }), closing)
}

/** Adds statements to traces: their text, without values. */
function seen(tracing: Tracing): Around {
  return (text, run) =>
    tracing.part(
      /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? "SQL",
      { "db.system.name": "postgresql", "db.query.text": text.slice(0, 2000) },
      run,
    )
}

async function openModel(config: Config, tracing: Tracing | null, opened: Opened): Promise<Model> {
  const model = await openUntracedModel(config, opened)
  if (!tracing) return model
  const { traceModel } = await import("./adapters/model/traced.ts")
  return traceModel(model, tracing)
}

async function openUntracedModel(config: Config, opened: Opened): Promise<Model> {
  const { openGatewayModel } = await import("./adapters/model/gateway.ts")
  const { gateway, model } = config.chat
  if (gateway.kind !== "embedded") return openGatewayModel({ gateway, name: model })
  const { openDevelopmentGateway } = await import("./adapters/model/development-gateway.ts")
  const { key, baseUrl } = opened.adopt(await openDevelopmentGateway(), closing)
  return openGatewayModel({ gateway: { kind: "development", key, baseUrl }, name: model })
}

function createLimiters(config: Config): Services["limiters"] {
  const interval = 60_000
  return {
    health: createRateLimiter({ interval, limit: 30 }),
    email: createRateLimiter({ interval, limit: 10 }),
    chat: createRateLimiter({ interval, limit: config.plans.free.chatPerMinute }),
    emails: createSpendingLimiter(60 * interval),
    answers: createSpendingLimiter(interval),
    notes: createSpendingLimiter(interval),
    waitlist: createRateLimiter({ interval, limit: 20 }),
    singleSignOn: createRateLimiter({ interval, limit: 30 }),
    demo: createRateLimiter({ interval, limit: 40 }),
    // Each check has its own limits: by network and by link.
    sharePassword: createRateLimiter({ interval: 10 * interval, limit: 0 }),
  }
}
