import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { href } from "react-router"
import { formatsOf } from "#app/language/formats.ts"
import { i18nOfDocument } from "#app/language/i18n.ts"
import {
  attachableAs,
  ATTACHMENTS_LIMIT,
  IMAGE_LIMIT,
  imageLimit,
  type Attachment,
} from "#server/chat/contract.ts"
import type { FileSummary } from "#server/files/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"

export interface Uploading {
  id: number
  file: File
  /** Why it cannot be attached; null while it is uploading. */
  problem: string | null
}

interface AttachingOptions {
  attachments: Attachment[]
  /** Called with each file that was uploaded or chosen. */
  onAttached: (attachment: Attachment) => void
}

let lastId = 0

/** The files attached to a draft: chosen from the stored ones, or uploaded directly. */
export function useAttaching({ attachments, onAttached }: AttachingOptions) {
  const { i18n, t } = useLingui()
  const { spaceId } = usePlace()
  const [uploads, setUploads] = useState<readonly Uploading[]>([])
  const isFull = attachments.length + uploads.length >= ATTACHMENTS_LIMIT

  /** `onFailed` gets a file whose text would be lost otherwise. */
  function upload(files: readonly File[], onFailed?: (file: File) => void) {
    const remaining = ATTACHMENTS_LIMIT - attachments.length - uploads.length
    for (const [place, file] of files.entries()) {
      const id = ++lastId
      const problem =
        place < remaining
          ? whyNotAtAll(file, i18n)
          : t`You can attach up to ${ATTACHMENTS_LIMIT} files to a message.`
      setUploads((before) => [...before, { id, file, problem }])
      if (!problem) void takeIn(id, file, onFailed)
    }
  }

  async function takeIn(id: number, file: File, onFailed?: (file: File) => void) {
    try {
      const summary = await uploadFile(await makeFit(file), spaceId)
      const reason = whyNot(summary, i18n)
      if (reason) {
        await removeFile(summary)
        return fail(id, reason)
      }
      remove(id)
      onAttached(attachmentOf(summary))
    } catch (problem) {
      fail(id, problem instanceof Error ? problem.message : t`It could not be uploaded.`)
      onFailed?.(file)
    }
  }

  function fail(id: number, problem: string) {
    setUploads((before) => before.map((one) => (one.id === id ? { ...one, problem } : one)))
  }

  function remove(id: number) {
    setUploads((before) => before.filter((one) => one.id !== id))
  }

  return {
    uploads,
    isFull,
    isUploading: uploads.some(({ problem }) => problem === null),
    upload,
    remove,
    attach: (file: FileSummary) => onAttached(attachmentOf(file)),
  }
}

/** Why a file cannot be attached; null if it can. The server checks again. */
export function whyNot(
  { mimeType, size }: Pick<FileSummary, "mimeType" | "size">,
  i18n: I18n,
): string | null {
  const kind = attachableAs(mimeType)
  if (!kind) return unreadable(mimeType, i18n)
  if (kind !== "image" || size <= imageLimit(mimeType)) return null
  const limit = formatsOf(i18n).bytes(imageLimit(mimeType))
  return i18n._(msg`An image can be ${limit} at most.`)
}

/**
 * Why a file need not be uploaded at all; null if it may be attached. Only what a browser knows for
 * certain: many texts have a type of their own, or none.
 */
function whyNotAtAll({ name, type }: File, i18n: I18n): string | null {
  const isHeic = /\.hei[cf]$/i.test(name)
  const mimeType = isHeic ? "image/heic" : type
  return attachableAs(mimeType) === null && NEVER_TEXT.test(mimeType) ? unreadable(mimeType, i18n) : null
}

const NEVER_TEXT = /^(image|video|audio|font)\/|^application\/(pdf|zip|gzip|epub|vnd\.)/

function unreadable(mimeType: string, i18n: I18n): string {
  return mimeType.startsWith("image/")
    ? i18n._(msg`The model can read JPEG, PNG, WebP and GIF images. Save this one as JPEG first.`)
    : i18n._(msg`The model can only read text and images.`)
}

/** The file itself, or a smaller picture in place of one that is too large for the model. */
async function makeFit(file: File): Promise<File> {
  const isShrinkable = /^image\/(jpeg|png|webp)$/.test(file.type)
  if (!isShrinkable || file.size <= IMAGE_LIMIT) return file
  const { shrinkImage } = await import("./shrink-image.ts")
  return (await shrinkImage(file)) ?? file
}

/** What was uploaded for the message alone takes no space when the message cannot have it. */
async function removeFile({ _id: fileId }: FileSummary): Promise<void> {
  await send("DELETE", `${href("/api/files/:fileId", { fileId })}?permanently=1`)
}

function attachmentOf({ _id, fileName, mimeType, size }: FileSummary): Attachment {
  return { fileId: _id, fileName, mimeType, size }
}

async function uploadFile(file: File, spaceId: string | undefined): Promise<FileSummary> {
  // Browsers give every pasted image the same meaningless name, or none.
  const name = file.name || "pasted.png"
  const { files } = await send<{ files: FileSummary[] }>(
    "POST",
    `${href("/api/files")}?${new URLSearchParams({ name, ...(spaceId && { spaceId }) })}`,
    {
      content: file,
    },
  )
  const [taken] = files
  if (!taken) throw new Error(i18nOfDocument()._(msg`The server couldn't store it.`))
  return taken
}
