import { Trans } from "@lingui/react/macro"
import { TextLink } from "#app/ui/text-link.tsx"

/** Links to the form for a recovery code, and back. */
export function OtherKindOfCode({
  path,
  target,
  isRecovery,
}: {
  path: string
  target: string
  isRecovery: boolean
}) {
  const query = new URLSearchParams({ redirect_url: target, ...(isRecovery ? {} : { recovery: "" }) })
  return (
    <p className="mt-6 text-center text-sm">
      <TextLink to={`${path}?${query}`}>
        {isRecovery ? <Trans>Use your authenticator app</Trans> : <Trans>Use a recovery code</Trans>}
      </TextLink>
    </p>
  )
}
