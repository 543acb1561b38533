import { Trans, useLingui } from "@lingui/react/macro"
import { RecoveryCodeList } from "#app/features/identity/recovery-code-list.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { PageHead } from "./page-text.tsx"

/** Shown once, when the second factor is set up. */
export function RecoveryCodes({ codes, target }: { codes: readonly string[]; target: string }) {
  const { t } = useLingui()
  return (
    <>
      <PageHead title={t`Save your recovery codes`}>
        <Trans>
          Two-factor authentication is on, and your other browsers have been signed out. If you lose your
          phone, each of these codes signs you in once. They won't be shown again: keep them with your
          passwords or on paper.
        </Trans>
      </PageHead>
      <Card>
        <RecoveryCodeList codes={codes} />
        <LinkButton to={target} reloadDocument className="mt-5 w-full">
          <Trans>I have saved them</Trans>
        </LinkButton>
      </Card>
    </>
  )
}
