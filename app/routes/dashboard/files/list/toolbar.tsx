import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type RefObject } from "react"
import { Form, useSubmit } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"
import { SearchField } from "#app/ui/search-field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import { FILE_SEARCH_LIMIT, KINDS, type Kind, type ListFiles, type Sort } from "#server/files/contract.ts"

/** Search, type and order, kept in the URL. */
export function FilesToolbar({
  query: { q, sort, type },
}: {
  query: Pick<ListFiles, "q" | "sort" | "type">
}) {
  const { t } = useLingui()
  const submit = useSubmit()
  const [search, noteAsked] = useSearchField(q)
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(typing.current), [])
  const ask = (form: HTMLFormElement | null) => {
    clearTimeout(typing.current)
    noteAsked()
    // Only the first search adds an entry to the history, so that Back leaves the search, not its
    // last character.
    void submit(form, { replace: q !== "", preventScrollReset: true })
  }

  return (
    <Form role="search" className="mt-8 flex flex-wrap gap-3" preventScrollReset>
      <SearchField
        ref={search}
        label={t`Search files`}
        name="q"
        defaultValue={q}
        placeholder={t`Search files`}
        maxLength={FILE_SEARCH_LIMIT}
        onChange={({ currentTarget: { form } }) => {
          clearTimeout(typing.current)
          typing.current = setTimeout(ask, 250, form)
        }}
        className="min-w-0 flex-1 max-sm:basis-full"
      />
      <Choice label={t`Kind`} name="type" value={type ?? ""} options={kinds} onAsk={ask} />
      <Choice label={t`Order`} name="sort" value={sort} options={orders} onAsk={ask} />
      <div className="hidden noscript:block">
        <button className={buttonClass({ variant: "secondary" })}>
          <Trans>Search</Trans>
        </button>
      </div>
    </Form>
  )
}

function Choice({
  label,
  name,
  value,
  options,
  onAsk,
}: {
  label: string
  name: string
  value: string
  options: readonly (readonly [value: string, label: MessageDescriptor])[]
  onAsk: (form: HTMLFormElement | null) => void
}) {
  const { t } = useLingui()
  const select = useFollowing(value)
  return (
    <SelectField
      ref={select}
      label={label}
      labelHidden
      name={name}
      defaultValue={value}
      onChange={({ currentTarget: { form } }) => onAsk(form)}
      className="max-sm:flex-1"
    >
      {options.map(([option, words]) => (
        <option key={option} value={option}>
          {t(words)}
        </option>
      ))}
    </SelectField>
  )
}

/** Updates the select when the URL changes in another way, by going back or by a link. */
function useFollowing(value: string): RefObject<HTMLSelectElement | null> {
  const select = useRef<HTMLSelectElement>(null)
  useEffect(() => {
    if (select.current) select.current.value = value
  }, [value])
  return select
}

/** Keeps what is being typed, and updates the field when the URL changes in another way. */
function useSearchField(q: string) {
  const input = useRef<HTMLInputElement>(null)
  const lastAsked = useRef(q)
  useEffect(() => {
    if (q === lastAsked.current || !input.current) return
    lastAsked.current = q
    input.current.value = q
  }, [q])
  const noteAsked = () => {
    lastAsked.current = input.current?.value.trim() ?? ""
  }
  return [input, noteAsked] as const
}

const kindNames: Record<Kind, MessageDescriptor> = {
  image: msg`Images`,
  video: msg`Videos`,
  audio: msg`Audio`,
  document: msg`Documents`,
  text: msg`Text and code`,
  archive: msg`Archives`,
  other: msg`Other`,
}

const kinds = [["", msg`All kinds`], ...KINDS.map((kind) => [kind, kindNames[kind]] as const)] as const

const orders: [Sort, MessageDescriptor][] = [
  ["newest", msg`Newest first`],
  ["oldest", msg`Oldest first`],
  ["modified", msg`Last modified`],
  ["modified-oldest", msg`First modified`],
  ["name", msg`Name, A to Z`],
  ["name-desc", msg`Name, Z to A`],
  ["largest", msg`Largest first`],
  ["smallest", msg`Smallest first`],
]
