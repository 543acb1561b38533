import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState, type DragEvent } from "react"
import { Avatar } from "#app/ui/avatar.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { LARGEST_PICTURE } from "#server/picture-contract.ts"

/** Chooses a picture, and shows a preview. The surrounding form sends it. */
export function PictureField({
  name,
  image,
  error,
  className,
}: {
  /** The user's name, or the space's. */
  name: string
  image: string | null
  error?: string | undefined
  /** The shape of the preview. */
  className?: string
}) {
  const [chosen, setChosen] = useState<{ size: number; preview: string }>()
  useEffect(() => () => URL.revokeObjectURL(chosen?.preview ?? ""), [chosen])
  const isTooLarge = chosen !== undefined && chosen.size > LARGEST_PICTURE
  const { t } = useLingui()
  const tooLarge = t`Choose a picture of at most 10 MB.`
  const problem = isTooLarge ? tooLarge : chosen ? undefined : error
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const choose = (file: File | undefined) => {
    setChosen(file && { size: file.size, preview: URL.createObjectURL(file) })
    // Makes the browser ask for another file instead of sending one that would be refused.
    input.current?.setCustomValidity(file && file.size > LARGEST_PICTURE ? tooLarge : "")
  }
  const drop = ({ dataTransfer: { files } }: DragEvent) => {
    setOver(false)
    if (!input.current || files.length !== 1) return
    input.current.files = files
    choose(files[0])
  }
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        event.stopPropagation()
        drop(event)
      }}
      className={classNames(
        "flex items-center gap-4 rounded-lg outline-2 outline-offset-6 outline-transparent outline-dashed",
        isOver && "outline-accent",
      )}
    >
      <label className="group/picture relative shrink-0 cursor-pointer rounded-full has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
        <Avatar
          name={name}
          image={(isTooLarge ? null : chosen?.preview) ?? image}
          className={classNames("size-16", className)}
        />
        <span className="absolute -right-1 -bottom-1 grid size-7 place-items-center rounded-full border border-line-strong bg-raised text-muted shadow-sm group-hover/picture:text-ink">
          <Icon name="edit" className="size-3.5" />
        </span>
        <span className="sr-only">
          <Trans>Picture</Trans>
        </span>
        <input
          ref={input}
          type="file"
          name="picture"
          accept="image/jpeg,image/png,image/webp,image/gif,image/avif"
          aria-invalid={problem ? true : undefined}
          aria-describedby={classNames(problem && "picture-error", "picture-hint")}
          onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
          className="absolute inset-0 cursor-pointer rounded-full opacity-0 file:cursor-pointer"
        />
      </label>
      <div className="min-w-0 flex-1 text-sm">
        <p aria-hidden="true" className="font-medium text-ink">
          <Trans>Picture</Trans>
        </p>
        {problem ? (
          <p id="picture-error" className="mt-0.5 text-danger-ink" role="alert">
            {problem}
          </p>
        ) : null}
        <p id="picture-hint" className="mt-0.5 text-faint">
          <Trans>Click the picture or drop one here. We crop it to a centred square. Up to 10 MB.</Trans>
        </p>
      </div>
    </div>
  )
}
