import { Trans, useLingui } from "@lingui/react/macro"
import { Form, useNavigation } from "react-router"
import { Button } from "#app/ui/button.tsx"
import { usePlace } from "./use-place.ts"
import { Icon } from "#app/ui/icon.tsx"

/** Takes a message to the chat, which sends it in a new conversation. */
export function AskBox() {
  const { t } = useLingui()
  const { addresses } = usePlace()
  const { location } = useNavigation()
  const pending = location?.pathname === addresses.chat && location.search.startsWith("?question=")
  return (
    <Form
      action={addresses.chat}
      state={{ ask: true }}
      className="mt-7 flex items-center gap-2 rounded-xl border border-line-strong bg-surface p-2 pl-4 shadow-md transition-colors focus-within:border-accent"
    >
      <Icon name="sparkle" className="text-accent-ink" />
      <input
        name="question"
        required
        maxLength={2000}
        autoComplete="off"
        enterKeyHint="send"
        aria-label={t`Ask the chat`}
        placeholder={t`Ask anything…`}
        className="h-10 min-w-0 flex-1 bg-transparent px-1 text-base outline-hidden placeholder:text-faint touch:h-11"
      />
      <Button type="submit" pending={pending}>
        <Trans>Ask</Trans>
      </Button>
    </Form>
  )
}
