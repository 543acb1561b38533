import { Trans, useLingui } from "@lingui/react/macro"
import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/browser"
import { useEffect, useEffectEvent, useState } from "react"
import { useSubmit } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { Field } from "#app/ui/field.tsx"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { CurrentPasswordField } from "./proof-fields.tsx"

type Problem = "cancelled" | "known" | "unable"

/** In JSON, or why there is none. */
type Made = { attestation: string } | { problem: Problem }

/**
 * Adds a passkey in two steps: the password, for which the server hands out options, and what the
 * authenticator makes of them.
 */
export function NewPasskey({ hasPassword, outcome }: { hasPassword: boolean; outcome: Outcome | undefined }) {
  const { t } = useLingui()
  const submit = useSubmit()
  const [failure, setFailure] = useState<{ options: string; problem: Problem } | null>(null)
  const begun = outcome?.intent === "begin-passkey" ? outcome : undefined
  const { name = "" } = begun?.values ?? {}
  const options = begun?.passkeyOptions
  const problem = failure?.options === options ? failure?.problem : undefined

  const finish = useEffectEvent((json: string, made: Made) => {
    if ("problem" in made) return setFailure({ options: json, problem: made.problem })
    const { attestation } = made
    void submit({ intent: "add-passkey", name, attestation }, { method: "post", preventScrollReset: true })
  })
  useEffect(() => {
    if (options !== undefined) void makePasskey(options).then((made) => finish(options, made))
  }, [options])

  return (
    <>
      {options !== undefined ? (
        <noscript>
          <Alert tone="warning" title={t`Adding a passkey needs JavaScript`} className="mb-4" />
        </noscript>
      ) : null}
      {problem ? <Refused problem={problem} /> : null}
      <ChangeForm
        intent="begin-passkey"
        submit={problem ? t`Try again` : t`Add a passkey`}
        variant="secondary"
        className="flex flex-col items-start gap-4"
      >
        <Field
          className="w-full max-w-sm"
          label={t`Name of the new passkey`}
          name="name"
          placeholder={t`my phone`}
          autoComplete="off"
          required
          maxLength={50}
          defaultValue={name}
          error={begun?.errors?.["name"]}
        />
        {hasPassword ? <CurrentPasswordField error={begun?.errors?.["current"]} /> : null}
      </ChangeForm>
    </>
  )
}

function Refused({ problem }: { problem: Problem }) {
  const { t } = useLingui()
  if (problem === "known")
    return (
      <Alert tone="warning" title={t`This device already has a passkey for your account`} className="mb-4" />
    )
  if (problem === "cancelled")
    return <Alert tone="warning" title={t`No passkey was added`} className="mb-4" />
  return (
    <Alert tone="danger" title={t`This browser can't add a passkey here`} className="mb-4">
      <Trans>
        Passkeys need HTTPS, the address that the administrator has set, and a screen lock or PIN.
      </Trans>
    </Alert>
  )
}

async function makePasskey(json: string): Promise<Made> {
  try {
    const { startRegistration } = await import("@simplewebauthn/browser")
    const optionsJSON = JSON.parse(json) as PublicKeyCredentialCreationOptionsJSON
    return { attestation: JSON.stringify(await startRegistration({ optionsJSON })) }
  } catch (error) {
    return { problem: problemOf(error) }
  }
}

function problemOf(error: unknown): Problem {
  const name = error instanceof Error ? error.name : ""
  if (name === "InvalidStateError") return "known"
  return name === "NotAllowedError" || name === "AbortError" ? "cancelled" : "unable"
}
