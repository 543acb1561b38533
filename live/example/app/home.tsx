import { useLoaderData } from "react-router"
import type { Loaded, MutationType } from "#live/contract"
import { useLive, useMutate } from "#live/react"
import { realtime } from "../engine.ts"

const list = "harbour"
const add: MutationType<"notes.add", { id: string; list: string; body: string }, void> = { name: "notes.add" }

export async function loader() {
  const [notes] = await realtime.snapshotOf([{ query: "notes.list", args: { list } }], "guest")
  return notes as Loaded<{ _id: string; body: string }>
}

export default function Home() {
  const notes = useLive(useLoaderData<typeof loader>())
  const mutate = useMutate()
  const submit = (form: FormData) =>
    mutate(add, { id: crypto.randomUUID(), list, body: form.get("body") as string })
  return (
    <form action={submit}>
      {notes.map(({ _id, body }) => (
        <p key={_id}>{body}</p>
      ))}
      <input name="body" aria-label="Note" />
    </form>
  )
}
