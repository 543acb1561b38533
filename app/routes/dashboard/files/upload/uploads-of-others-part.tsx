import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { openChannel, useClient } from "#live/react"
import { Avatar } from "#app/ui/avatar.tsx"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import { useIsVisible } from "#app/ui/use-is-visible.ts"
import { fileUploadsChannel, type Uploading } from "#server/files/upload-progress-contract.ts"
import type { Member } from "#server/spaces/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { createUploadsOfOthers } from "./uploads-of-others.ts"

/** Uploads that are shown; the rest are counted. */
const MOST = 5

interface UploadsOfOthersProps {
  spaceId: string
  /** Whether the page shows the newest files: the list beside which the channel is. */
  isListFollowed: boolean
}

/** What the other members of the space are uploading, and how far it is. */
export function UploadsOfOthers(props: UploadsOfOthersProps) {
  const { t } = useLingui()
  const { members } = usePlace()
  const formats = useFormats()
  const uploads = useUploadsOfOthers(props)
  // Somebody who has left the space is no longer shown, however late the server hears of it.
  const shown = uploads.flatMap((upload) => {
    const member = members.find(({ userId }) => userId === upload.userId)
    return member ? [{ upload, member }] : []
  })
  if (shown.length === 0) return null
  const others = formats.number(shown.length - MOST)
  return (
    <section
      aria-label={t`Uploads of others`}
      className="mt-6 rounded-lg border border-line bg-surface text-sm"
    >
      <ul className="divide-y divide-line">
        {shown.slice(0, MOST).map(({ upload, member }) => (
          <UploadOfMember key={upload.uploadId} upload={upload} member={member} />
        ))}
        {shown.length > MOST ? (
          <li className="px-4 py-2.5 text-faint">
            <Trans>and {others} more</Trans>
          </li>
        ) : null}
      </ul>
    </section>
  )
}

function UploadOfMember({ upload, member }: { upload: Uploading; member: Member }) {
  const { t } = useLingui()
  const formats = useFormats()
  const { fileName, received, size } = upload
  const { memberName, memberEmail, memberImageUrl } = member
  const name = memberName ?? memberEmail
  const share = size === null ? null : size === 0 ? 1 : Math.min(1, received / size)
  const percent = share === null ? null : Math.floor(share * 100)
  const [soFar, whole] = [formats.bytes(received), formats.bytes(size ?? 0)]
  return (
    <li className="flex min-h-14 items-center gap-3 px-4 py-2">
      <Avatar name={name} image={memberImageUrl} className="size-7!" />
      <div className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium" title={fileName}>
          {fileName}
        </p>
        <p className="truncate text-faint tabular-nums">
          {percent === null
            ? t`${name} is uploading, ${soFar} so far`
            : t`${name} is uploading, ${percent}% of ${whole}`}
        </p>
        {share === null ? null : (
          <ProgressBar label={t`Upload of ${fileName}`} share={share} className="mt-1 rounded-full" />
        )}
      </div>
    </li>
  )
}

function useUploadsOfOthers({ spaceId, isListFollowed }: UploadsOfOthersProps): readonly Uploading[] {
  const client = useClient()
  const userId = useUser()._id
  const isVisible = useIsVisible()
  const [uploads, setUploads] = useState<readonly Uploading[]>([])

  useEffect(() => {
    if (!isVisible) return
    const list = { query: "files.list", args: { spaceId }, rows: [], order: [], end: null }
    const held = isListFollowed ? null : client.hold(list)
    const others = createUploadsOfOthers({ userId, changed: setUploads })
    const channel = openChannel(client, list, fileUploadsChannel, others)
    return () => {
      channel.leave()
      others.close()
      held?.release()
      setUploads([])
    }
  }, [client, userId, spaceId, isListFollowed, isVisible])

  return uploads
}
