import { Trans } from "@lingui/react/macro"
import { Icon } from "#app/ui/icon.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"

/** In place of the composer, for somebody who may only read in the space. */
export function ReaderNotice() {
  const { spaceName } = usePlace()
  return (
    <p className="mx-auto flex w-full max-w-3xl items-start gap-2.5 rounded-lg border border-line bg-sunken px-4 py-3 text-sm text-muted">
      <Icon name="lock" className="mt-0.5" />
      <span>
        <Trans>You can read in {spaceName}, but not write. Ask its owner to make you an editor.</Trans>
      </span>
    </p>
  )
}
