import { useLingui } from "@lingui/react/macro"
import { Form } from "react-router"
import { classNames } from "./class-names.ts"

/**
 * A button for each language, by its own name, in a form that posts `language` to `action`; `from`
 * is the URL to return to. The whole document is reloaded in the chosen language.
 */
export function LanguageChoice({ action, from }: { action: string; from: string }) {
  const { t, i18n } = useLingui()
  return (
    <Form method="post" action={action} reloadDocument>
      <input type="hidden" name="from" value={from} />
      <fieldset className="inline-flex rounded-full border border-line bg-surface p-0.5 text-xs">
        <legend className="sr-only">{t`Language`}</legend>
        {choices.map(({ value, name }) => (
          <button
            key={value}
            name="language"
            value={value}
            lang={value}
            aria-pressed={i18n.locale === value}
            className={classNames(
              "min-h-7 rounded-full px-2.5 transition-colors touch:min-h-11 touch:px-4",
              i18n.locale === value ? "bg-hover text-ink" : "text-faint hover:text-ink",
              "forced-colors:aria-pressed:outline-2",
            )}
          >
            {name}
          </button>
        ))}
      </fieldset>
    </Form>
  )
}

const choices = [
  { value: "en", name: "English" },
  { value: "de", name: "Deutsch" },
]
