import { useState } from "react"
import { href } from "react-router"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { hasThumbnail, type FileSummary } from "#server/files/contract.ts"

/** A thumbnail for an image; for any other file, an icon for its type. */
export function FilePicture({ file }: { file: Pick<FileSummary, "_id" | "mimeType" | "fileName"> }) {
  const [isBroken, setBroken] = useState(false)
  const isImage = hasThumbnail(file.mimeType)
  return (
    <span className="grid size-10 shrink-0 place-items-center overflow-hidden rounded-md border border-line bg-sunken text-faint">
      {isImage && !isBroken ? (
        <img
          src={href("/api/files/:fileId/thumbnail", { fileId: file._id })}
          alt=""
          width={40}
          height={40}
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => setBroken(true)}
          className="size-full object-cover"
        />
      ) : (
        <Icon name={iconOf(file)} />
      )}
    </span>
  )
}

export function iconOf({ mimeType, fileName }: Pick<FileSummary, "mimeType" | "fileName">): IconName {
  if (mimeType === "text/plain" && CODE.test(fileName)) return "code"
  return icons.find(([pattern]) => pattern.test(mimeType))?.[1] ?? "file"
}

/** Names of sources, whose type is that of any text. */
const CODE =
  /\.([cm]?[jt]sx?|[ch](pp|s)?|cc|css|scss|go|html?|java|kt|lua|php|pl|py|rb|rs|sh|sql|swift|toml|ya?ml|vue)$/i

const icons: [RegExp, IconName][] = [
  [/^image\/svg/, "code"],
  [/^image\//, "image"],
  [/^video\//, "film"],
  [/^audio\//, "music"],
  [/csv|spreadsheet|excel/, "table"],
  [/^text\/(html|css|javascript)|json|xml/, "code"],
  [/^text\/|pdf|word|opendocument|rtf/, "text"],
  [/zip|tar|compressed|x-7z|x-rar|gzip|x-bzip2|x-xz/, "archive"],
]
