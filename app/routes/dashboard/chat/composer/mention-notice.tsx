import { useLingui } from "@lingui/react/macro"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"

/** Names that are listed. */
const MOST = 3

/** Says before a message is sent that it mentions nobody where it seems to. It can be sent as it is. */
export function MentionNotice({ unmatched, className }: { unmatched: readonly string[]; className: string }) {
  const { t } = useLingui()
  const { spaceName, members } = usePlace()
  const names = unmatched.slice(0, MOST)
  const shared = names.filter((name) => {
    const start = `${name.toLowerCase()} `
    return members.filter(({ memberName }) => memberName?.toLowerCase().startsWith(start)).length > 1
  })
  const said = (shared.length > 0 ? shared : names).map((name) => `@${name}`).join(", ")
  return (
    <p role="status" className={className}>
      {names.length === 0
        ? null
        : shared.length > 0
          ? t`Several people are called ${said}. Choose one from the list, or write the full name.`
          : t`Nobody called ${said} is in ${spaceName}.`}
    </p>
  )
}
