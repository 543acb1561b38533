import { Trans, useLingui } from "@lingui/react/macro"
import { Alert } from "#app/ui/alert.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { useChatLayout } from "#app/routes/dashboard/chat/threads/use-chat-layout.ts"

/** Warns that the chat is off, or that the development gateway writes its replies. */
export function ModelNotice() {
  const { t } = useLingui()
  const { model } = useChatLayout()
  if (!model.available) {
    return (
      <Alert
        tone="warning"
        title={t`The chat is turned off`}
        className="mx-auto my-3 w-[calc(100%-2rem)] max-w-3xl"
      >
        <Trans>
          The setting <code className="font-mono">AI_GATEWAY_API_KEY</code> is missing. The administrator can
          set it to a gateway's key, or to <code className="font-mono">embedded</code> for the development
          gateway.
        </Trans>
      </Alert>
    )
  }
  if (!model.isDevelopment) return null
  return (
    <p className="flex items-start justify-center gap-2 border-b border-warning-line bg-warning-soft px-4 py-2 text-xs text-warning-ink">
      <Icon name="plug" className="mt-0.5 size-3.5" />
      <span>
        <Trans>
          <strong className="font-semibold">No language model is connected.</strong> Replies come from a
          built-in stand-in that only repeats what it looks up.
        </Trans>
      </span>
    </p>
  )
}
