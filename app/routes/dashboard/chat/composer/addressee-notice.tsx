import { useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { ASSISTANT, type Addressee } from "#server/chat/addressee-contract.ts"

interface AddresseeNoticeProps {
  /** Null for what is personal. */
  addressee: Addressee | null
  peopleOnly: boolean
  className?: string
}

/** Says before a message in a space is sent whether the model will reply to it. */
export function AddresseeNotice({ addressee, peopleOnly, className }: AddresseeNoticeProps) {
  const { t } = useLingui()
  if (!addressee) return null
  const { asksModel, name } = addressee
  return (
    <p role="status" className={classNames("flex items-center gap-1.5 text-xs text-muted", className)}>
      <Icon name={asksModel ? "sparkle" : "people"} className="size-3.5" />
      <span className="min-w-0">
        {asksModel
          ? t`The assistant will reply.`
          : name !== null
            ? t`To ${name}: the assistant won't reply.`
            : peopleOnly
              ? t`For people only: the assistant replies if you write @${ASSISTANT}.`
              : null}
      </span>
    </p>
  )
}
