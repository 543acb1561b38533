import { useEffect, useRef } from "react"
import { Form, useSubmit } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import type { ListFiles, Sort } from "#server/files/contract.ts"

/** Search and order, kept in the address. */
export function FilesToolbar({ query: { q, sort } }: { query: Pick<ListFiles, "q" | "sort"> }) {
  const submit = useSubmit()
  const [search, noteAsked] = useSearchField(q)
  const order = useRef<HTMLSelectElement>(null)
  useEffect(() => {
    if (order.current) order.current.value = sort
  }, [sort])
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
      <label className="relative min-w-0 flex-1 basis-60">
        <span className="sr-only">Search your files</span>
        <Icon
          name="search"
          className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-faint"
        />
        <input
          ref={search}
          type="search"
          name="q"
          defaultValue={q}
          placeholder="Search your files"
          maxLength={200}
          onChange={({ currentTarget: { form } }) => {
            clearTimeout(typing.current)
            typing.current = setTimeout(ask, 250, form)
          }}
          className={classNames(controlClass, "w-full pl-9")}
        />
      </label>
      <label className="relative">
        <span className="sr-only">Order</span>
        <select
          ref={order}
          name="sort"
          defaultValue={sort}
          onChange={({ currentTarget: { form } }) => ask(form)}
          className={classNames(controlClass, "appearance-none pr-9")}
        >
          {orders.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <Icon
          name="chevron-down"
          className="pointer-events-none absolute top-1/2 right-3 size-3.5 -translate-y-1/2 text-faint"
        />
      </label>
      <div className="hidden noscript:block">
        <button className={buttonClass({ variant: "secondary" })}>Search</button>
      </div>
    </Form>
  )
}

/** What is typed stays as it is typed; when the address changes otherwise, by going back or a link, the field says so too. */
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

const orders: [Sort, string][] = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["name", "By name"],
  ["largest", "Largest first"],
]

const controlClass = classNames(
  "h-10 rounded-md border border-line-strong bg-surface px-3 text-base shadow-sm transition-colors placeholder:text-faint sm:text-sm touch:h-11",
  "hover:border-faint focus-visible:border-accent focus-visible:outline-offset-0",
)
