import { useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { useSentences, type Sentence } from "#app/language/sentences.ts"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"

/** Asks for a link's password. `children` name the button. */
export function PasswordCard({ error, children }: { error: Sentence | undefined; children: ReactNode }) {
  const { t } = useLingui()
  const say = useSentences()
  return (
    <Card>
      <form method="post" className="flex flex-col gap-4">
        <Field
          label={t`Password`}
          name="password"
          type="password"
          autoComplete="off"
          required
          maxLength={1000}
          autoFocus
          error={say(error)}
          hint={t`Ask the person who sent you the link.`}
        />
        <Button type="submit">{children}</Button>
      </form>
    </Card>
  )
}
