import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { RequestRefused } from "#app/routes/dashboard/requests/send.ts"

interface RefusalAlertProps {
  refusal: RequestRefused | null
  /** Seconds until the message can be sent again. */
  wait: number
  onDismiss: () => void
}

/** Why the last message was not sent, until it can be sent again. */
export function RefusalAlert({ refusal, wait, onDismiss }: RefusalAlertProps) {
  const { t } = useLingui()
  if (!refusal || (refusal.retryAt !== null && wait === 0)) return null
  return (
    <Alert
      tone={refusal.retryAt ? "warning" : "danger"}
      title={refusal.retryAt ? t`Too many messages sent` : t`Your message wasn't sent`}
      className="mx-auto mb-3 w-full max-w-3xl"
      action={
        <Button variant="ghost" size="icon" className="-my-1.5" aria-label={t`Dismiss`} onClick={onDismiss}>
          <Icon name="x" />
        </Button>
      }
    >
      {refusal.message}
    </Alert>
  )
}

/** Why nothing can be sent now. `wait` is in seconds. */
export function useObstacle(available: boolean, wait: number) {
  const { t } = useLingui()
  if (!available) return t`You can't send messages while the chat is turned off.`
  if (wait > 0) {
    return t`${plural(wait, {
      one: "You can send again in # second.",
      other: "You can send again in # seconds.",
    })}`
  }
  return null
}
