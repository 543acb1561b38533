import { useLingui } from "@lingui/react/macro"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { Section } from "./section.tsx"

/** How a person is notified of mentions. */
export function Notifications({
  notifies: { inApp, byEmail },
  outcome,
}: {
  notifies: { inApp: boolean; byEmail: boolean }
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      id="notifications"
      title={t`Mentions`}
      about={t`When somebody mentions you in a space.`}
      outcome={outcome}
    >
      <ChangeForm intent="save-notifications" submit={t`Save notifications`} className="space-y-4">
        <Checkbox
          key={`app ${inApp}`}
          name="inApp"
          defaultChecked={inApp}
          label={t`In Tideline`}
          hint={t`Listed under the bell, with the number of unread ones.`}
        />
        <Checkbox
          key={`email ${byEmail}`}
          name="byEmail"
          defaultChecked={byEmail}
          label={t`By email`}
          hint={t`Ten minutes later, if you haven't opened the conversation by then.`}
        />
      </ChangeForm>
    </Section>
  )
}
