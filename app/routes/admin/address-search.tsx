import { Trans, useLingui } from "@lingui/react/macro"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Field } from "#app/ui/field.tsx"

/** Searches a list, by email address unless `label` says more. `all` is the URL of the whole list. */
export function AddressSearch({ q, label, all }: { q: string; label?: string; all: string }) {
  const { t } = useLingui()
  return (
    <form role="search" className="mt-5 flex max-w-xl items-end gap-2">
      <Field
        className="flex-1"
        label={label ?? t`Email address`}
        name="q"
        type="search"
        defaultValue={q}
        maxLength={254}
      />
      <Button type="submit" variant="secondary">{t`Search`}</Button>
      {q ? (
        <a href={all} className={buttonClass({ variant: "ghost" })}>
          <Trans>All</Trans>
        </a>
      ) : null}
    </form>
  )
}
