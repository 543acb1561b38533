import { join, resolve } from "node:path"
import type { Settings } from "./settings.ts"

/** The part of the configuration about backups. */
export function backupConfig(settings: Settings, dataDir: string) {
  const directory = resolve(settings.BACKUP_DIR ?? resolve(dataDir, "backups"))
  const backsUpElsewhere = settings.BACKUP_SCHEDULE === "elsewhere"
  const schedule = backsUpElsewhere ? undefined : settings.BACKUP_SCHEDULE
  const recipients: readonly string[] = settings.BACKUP_RECIPIENT
  return {
    /** Null unless any moment of the last days can be restored. */
    history:
      settings.BACKUP_HISTORY > 0
        ? {
            directory: historyIn(directory),
            days: settings.BACKUP_HISTORY,
            /** Written by the container that keeps it, where PostgreSQL is not embedded. */
            state: join(directory, "history.json"),
          }
        : null,
    /** Another process or tool takes them, and nobody is reminded here. */
    backsUpElsewhere,
    /** Who can decrypt backups, as age names them. Without any they are not encrypted. */
    backupRecipients: recipients,
    /** The bucket of backups; null without one. */
    backupBucket: settings.BACKUP_URL === undefined ? null : backupBucket(settings, settings.BACKUP_URL),
    /** Null unless this process takes backups. */
    backups: schedule
      ? {
          schedule,
          directory,
          recipients,
          keep: settings.BACKUP_KEEP,
          proof: settings.BACKUP_CHECK === "restore" ? ("restored" as const) : ("read" as const),
        }
      : null,
  }
}

/** The histories from which any moment can be restored. */
export function historyIn(directory: string): string {
  return join(directory, "history")
}

/** Checks that involve several variables about backups. */
export function* backupProblems(settings: Settings) {
  const { BACKUP_URL, BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY_ID, BACKUP_S3_SECRET_ACCESS_KEY } = settings
  if (BACKUP_URL && !new URL(BACKUP_URL).hostname)
    yield "BACKUP_URL names no bucket. It is s3://bucket, or s3://bucket/folder."
  if (BACKUP_URL && BACKUP_URL === settings.BLOBS_URL)
    yield "BACKUP_URL is the same as BLOBS_URL. Give the backups a bucket or a folder of their own."
  if ((BACKUP_S3_ACCESS_KEY_ID === undefined) !== (BACKUP_S3_SECRET_ACCESS_KEY === undefined))
    yield "BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY belong together. Set both or neither."
  if (BACKUP_S3_ENDPOINT && !BACKUP_S3_ACCESS_KEY_ID)
    yield "BACKUP_S3_ENDPOINT is set without keys. Set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY too."
}

/**
 * How to reach a bucket of backups. Where the backups' own settings say nothing, those of the
 * files' bucket count.
 */
export function backupBucket(settings: Settings, url: string) {
  const hasOwn = settings.BACKUP_S3_ACCESS_KEY_ID !== undefined
  return bucketAt(new URL(url), {
    S3_ENDPOINT: hasOwn ? settings.BACKUP_S3_ENDPOINT : settings.S3_ENDPOINT,
    S3_REGION: settings.BACKUP_S3_REGION ?? settings.S3_REGION,
    S3_ACCESS_KEY_ID: settings.BACKUP_S3_ACCESS_KEY_ID ?? settings.S3_ACCESS_KEY_ID,
    S3_SECRET_ACCESS_KEY: settings.BACKUP_S3_SECRET_ACCESS_KEY ?? settings.S3_SECRET_ACCESS_KEY,
  })
}

type BucketAccess = Pick<Settings, "S3_REGION"> &
  Partial<Pick<Settings, "S3_ENDPOINT" | "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY">>

/** How to reach the bucket of an `s3:` URL. */
export function bucketAt(url: URL, settings: BucketAccess) {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings
  return {
    bucket: url.hostname,
    prefix: url.pathname.replaceAll(/^\/+|\/+$/g, ""),
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  }
}
