import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"

export function PasswordCard({ error }: { error: string | undefined }) {
  return (
    <Card>
      <form method="post" className="flex flex-col gap-4">
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="off"
          required
          maxLength={1000}
          autoFocus
          error={error}
          hint="Whoever sent you the link knows it."
        />
        <Button type="submit">Show the file</Button>
      </form>
    </Card>
  )
}
