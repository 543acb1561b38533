import { Trans } from "@lingui/react/macro"

export function ReadingTime({ minutes }: { minutes: number }) {
  return (
    <span>
      <Trans>{minutes} min read</Trans>
    </span>
  )
}
