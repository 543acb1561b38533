import { useEffect, useRef, type RefObject } from "react"
import { Form, useSubmit } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"
import { SearchField } from "#app/ui/search-field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import { KINDS, type Kind, type ListFiles, type Sort } from "#server/files/contract.ts"

/** Search, kind and order, kept in the address. */
export function FilesToolbar({
  query: { q, sort, type },
}: {
  query: Pick<ListFiles, "q" | "sort" | "type">
}) {
  const submit = useSubmit()
  const [search, noteAsked] = useSearchField(q)
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(typing.current), [])
  const ask = (form: HTMLFormElement | null) => {
    clearTimeout(typing.current)
    noteAsked()
    // Going back leaves the search, not its last letter.
    void submit(form, { replace: q !== "", preventScrollReset: true })
  }

  return (
    <Form role="search" className="mt-8 flex flex-wrap gap-3" preventScrollReset>
      <SearchField
        ref={search}
        label="Search your files"
        name="q"
        defaultValue={q}
        placeholder="Search your files"
        maxLength={200}
        onChange={({ currentTarget: { form } }) => {
          clearTimeout(typing.current)
          typing.current = setTimeout(ask, 250, form)
        }}
        className="min-w-0 flex-1 max-sm:basis-full"
      />
      <Choice label="Kind" name="type" value={type ?? ""} options={kinds} onAsk={ask} />
      <Choice label="Order" name="sort" value={sort} options={orders} onAsk={ask} />
      <div className="hidden noscript:block">
        <button className={buttonClass({ variant: "secondary" })}>Search</button>
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
  options: readonly (readonly [value: string, label: string])[]
  onAsk: (form: HTMLFormElement | null) => void
}) {
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
          {words}
        </option>
      ))}
    </SelectField>
  )
}

/** When the address changes otherwise, by going back or a link, the choice says so too. */
function useFollowing(value: string): RefObject<HTMLSelectElement | null> {
  const select = useRef<HTMLSelectElement>(null)
  useEffect(() => {
    if (select.current) select.current.value = value
  }, [value])
  return select
}

/** What is typed stays as it is typed; when the address changes otherwise, the field says so too. */
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

export const kindNames: Record<Kind, string> = {
  image: "Images",
  video: "Videos",
  audio: "Audio",
  document: "Documents",
  text: "Text and code",
  archive: "Archives",
  other: "Other",
}

const kinds = [["", "All kinds"], ...KINDS.map((kind) => [kind, kindNames[kind]] as const)] as const

const orders: [Sort, string][] = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["name", "By name"],
  ["largest", "Largest first"],
]
