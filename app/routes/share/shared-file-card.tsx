import { buttonClass } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { formatBytes, kindOf, splitName, type Kind, type SharedFile } from "#server/files/contract.ts"

export function SharedFileCard({
  file,
  address,
}: {
  file: NonNullable<SharedFile["file"]>
  address: string
}) {
  const kind = kindOf(file.mimeType)
  return (
    <>
      <Card>
        <div className="flex items-start gap-4">
          <span className="grid size-12 shrink-0 place-items-center rounded-md border border-line bg-sunken text-muted">
            <Icon name={icons[kind]} className="size-5" />
          </span>
          <div className="min-w-0">
            <p className="font-medium break-words" dir="auto">
              {file.fileName}
            </p>
            <p className="mt-0.5 text-sm text-muted">
              {typeOf(file.fileName, kind)} · {formatBytes(file.size)}
            </p>
          </div>
        </div>
        <a href={address} className={buttonClass({}, "mt-5 w-full")}>
          <Icon name="download" />
          Download
        </a>
      </Card>
      <p className="mt-4 text-sm text-faint">
        {file.expiresAt === null ? null : (
          <>
            The link works until{" "}
            <time dateTime={new Date(file.expiresAt).toISOString()}>{inWords(file.expiresAt)}</time>.{" "}
          </>
        )}
        Nobody has checked what is in the file: open it if you know who sent it.
      </p>
    </>
  )
}

/** `PNG image`, or `Image` for a name without an ending. */
function typeOf(fileName: string, kind: Kind) {
  const ending = splitName(fileName).extension.slice(1).toUpperCase()
  return ending === "" ? kinds[kind] : `${ending} ${kinds[kind].toLowerCase()}`
}

const kinds: Record<Kind, string> = {
  image: "Image",
  video: "Video",
  audio: "Audio",
  document: "Document",
  text: "Text",
  archive: "Archive",
  other: "File",
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

/** The page is made where nobody knows the reader's clock. */
function inWords(moment: number) {
  const words = new Date(moment).toLocaleString("en-GB", {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  })
  return `${words} UTC`
}
