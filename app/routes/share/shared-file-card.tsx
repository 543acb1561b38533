import type { I18n, MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { useFormats } from "#app/language/formats.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { kindOf, splitName, type Kind, type SharedFile } from "#server/files/contract.ts"

/** The file by name, to download, and below it whatever of it can be shown. */
export function SharedFileCard({
  file,
  address,
  children,
}: {
  file: NonNullable<SharedFile["file"]>
  address: string
  children: ReactNode
}) {
  const { i18n } = useLingui()
  const formats = useFormats()
  const { expiresAt } = file
  // Rendered on the server, which does not know the reader's time zone.
  const end = expiresAt === null ? null : `${formats.date(expiresAt, MINUTE)} UTC`
  const kind = kindOf(file.mimeType)
  return (
    <>
      <Card className="flex flex-wrap items-center gap-4">
        <div className="flex min-w-0 flex-1 basis-60 items-center gap-4">
          <span className="grid size-12 shrink-0 place-items-center rounded-md border border-line bg-sunken text-muted">
            <Icon name={icons[kind]} className="size-5" />
          </span>
          <div className="min-w-0">
            <h2 className="font-medium break-words" dir="auto">
              {file.fileName}
            </h2>
            <p className="mt-0.5 text-sm text-muted">
              {typeOf(file.fileName, kind, i18n)} · {formats.bytes(file.size)}
            </p>
          </div>
        </div>
        <a href={address} className={buttonClass({}, file.preview ? "max-sm:w-full" : "w-full")}>
          <Icon name="download" />
          <Trans>Download</Trans>
        </a>
      </Card>
      {children ? <div className="mt-5">{children}</div> : null}
      <p className="mt-4 text-sm text-faint">
        {expiresAt === null ? null : (
          <>
            <Trans>
              The link works until <time dateTime={new Date(expiresAt).toISOString()}>{end}</time>.
            </Trans>{" "}
          </>
        )}
        <Trans>This file has not been checked. Open it only if you trust the person who sent it.</Trans>
      </p>
    </>
  )
}

/** `PNG image`, or `Image` for a name without an extension. */
function typeOf(fileName: string, kind: Kind, i18n: I18n) {
  const ending = splitName(fileName).extension.slice(1).toUpperCase()
  return ending === "" ? i18n._(kinds[kind]) : i18n._(endings[kind](ending))
}

const kinds: Record<Kind, MessageDescriptor> = {
  image: msg`Image`,
  video: msg`Video`,
  audio: msg`Audio`,
  document: msg`Document`,
  text: msg`Text`,
  archive: msg`Archive`,
  other: msg`File`,
}

const endings: Record<Kind, (ending: string) => MessageDescriptor> = {
  image: (ending) => msg`${ending} image`,
  video: (ending) => msg`${ending} video`,
  audio: (ending) => msg`${ending} audio`,
  document: (ending) => msg`${ending} document`,
  text: (ending) => msg`${ending} text`,
  archive: (ending) => msg`${ending} archive`,
  other: (ending) => msg`${ending} file`,
}

const icons: Record<Kind, IconName> = {
  image: "image",
  video: "film",
  audio: "music",
  document: "text",
  text: "text",
  archive: "archive",
  other: "file",
}

const MINUTE = {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "UTC",
} satisfies Intl.DateTimeFormatOptions
