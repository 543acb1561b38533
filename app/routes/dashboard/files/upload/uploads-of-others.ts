import { UPLOAD_LOST_AFTER, type Uploading } from "#server/files/upload-progress-contract.ts"

/** Milliseconds between two looks for uploads of which nothing is heard any more. */
const LOOK_EVERY = 1000

interface UploadsOfOthersOptions {
  /** Whose uploads are shown elsewhere. */
  userId: string
  changed(uploads: readonly Uploading[]): void
}

/**
 * Knows the uploads into a space from what its channel says, the first to begin first. One of which
 * nothing has been heard for a while is no longer among them.
 */
export function createUploadsOfOthers({ userId, changed }: UploadsOfOthersOptions) {
  const uploads = new Map<string, { upload: Uploading; heardAt: number }>()
  let timer: ReturnType<typeof setInterval> | undefined

  function tell() {
    if (uploads.size === 0) stop()
    changed(Array.from(uploads.values(), ({ upload }) => upload))
  }

  function look() {
    const before = uploads.size
    const now = Date.now()
    for (const [id, { heardAt }] of uploads) if (now - heardAt > UPLOAD_LOST_AFTER) uploads.delete(id)
    if (uploads.size < before) tell()
  }

  function stop() {
    clearInterval(timer)
    timer = undefined
  }

  function forgetAll() {
    uploads.clear()
    tell()
  }

  return {
    joined: forgetAll,
    members() {},
    message(_from: string, upload: Uploading) {
      if (upload.userId === userId) return
      if (upload.isOver) uploads.delete(upload.uploadId)
      else uploads.set(upload.uploadId, { upload, heardAt: Date.now() })
      timer ??= setInterval(look, LOOK_EVERY)
      tell()
    },
    left: forgetAll,
    close: stop,
  }
}
