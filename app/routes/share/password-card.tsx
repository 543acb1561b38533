import { Trans, useLingui } from "@lingui/react/macro"
import { useSentences, type Sentence } from "#app/language/sentences.ts"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"

export function PasswordCard({ error }: { error: Sentence | undefined }) {
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
        <Button type="submit">
          <Trans>Show the file</Trans>
        </Button>
      </form>
    </Card>
  )
}
