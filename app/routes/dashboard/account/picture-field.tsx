import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { Avatar } from "#app/ui/avatar.tsx"
import { classNames } from "#app/ui/class-names.ts"
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
  return (
    <div className="flex items-center gap-4">
      <Avatar
        name={name}
        image={(isTooLarge ? null : chosen?.preview) ?? image}
        className={classNames("size-16", className)}
      />
      <div className="min-w-0 flex-1">
        <label htmlFor="picture" className="text-sm font-medium text-ink">
          <Trans>Picture</Trans>
        </label>
        <input
          id="picture"
          type="file"
          name="picture"
          accept="image/jpeg,image/png,image/webp,image/gif,image/avif"
          aria-invalid={problem ? true : undefined}
          aria-describedby={classNames(problem && "picture-error", "picture-hint")}
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0]
            setChosen(file && { size: file.size, preview: URL.createObjectURL(file) })
            // Makes the browser ask for another file instead of sending one that would be refused.
            currentTarget.setCustomValidity(file && file.size > LARGEST_PICTURE ? tooLarge : "")
          }}
          className={classNames(
            "mt-1.5 block w-full min-w-0 rounded-md text-sm text-muted",
            "file:mr-3 file:h-9 file:rounded-md file:border file:border-solid file:border-line-strong file:bg-surface file:px-3",
            "file:text-sm file:font-medium file:text-ink file:shadow-sm hover:file:border-faint touch:file:h-11",
          )}
        />
        {problem ? (
          <p id="picture-error" className="mt-1.5 text-sm text-danger-ink" role="alert">
            {problem}
          </p>
        ) : null}
        <p id="picture-hint" className="mt-1.5 text-sm text-faint">
          <Trans>We crop it to a centred square. Up to 10 MB.</Trans>
        </p>
      </div>
    </div>
  )
}
