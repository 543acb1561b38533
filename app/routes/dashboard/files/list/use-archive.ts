import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef } from "react"
import { href } from "react-router"
import { useToast } from "#app/ui/toast.tsx"
import type { MatchingFiles } from "#server/files/acts-contract.ts"

const FRAME = "archive"

/** One field for each file, or `all` and beside it what matches. */
function fieldsOf(which: { ids: readonly string[] } | { all: MatchingFiles }): [string, string][] {
  if ("ids" in which) return which.ids.map((id) => ["ids", id])
  const { except = [], ...rest } = which.all
  return [
    ["all", "1"],
    ...Object.entries(rest).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    ...except.map((id): [string, string] => ["except", id]),
  ]
}

/**
 * Downloads several files as one zip. Submits a form into an iframe: the browser writes the bytes
 * to the disk as they arrive, and the page stays, even while uploads are running.
 */
export function useArchive() {
  const { t } = useLingui()
  const toast = useToast()
  const frame = useRef<HTMLIFrameElement>(null)
  const refuse = useRef(() => {})
  useEffect(() => {
    refuse.current = () =>
      toast.show({
        tone: "danger",
        title: t`The zip couldn't be created`,
        description: t`Check your connection and select the files again.`,
      })
  })

  useEffect(
    () => () => {
      frame.current?.remove()
      frame.current = null
    },
    [],
  )

  /** An iframe is a document of its own, so it is created on first use and not for every visit. */
  function makeFrame() {
    const created = document.createElement("iframe")
    created.name = FRAME
    created.hidden = true
    created.title = t`Downloads`
    // A download loads nothing into the iframe. Apart from its initial empty page, anything that
    // loads is an error from the server.
    created.addEventListener("load", () => {
      if (created.contentDocument?.URL !== "about:blank") refuse.current()
    })
    document.body.append(created)
    return created
  }

  return (which: { ids: readonly string[] } | { all: MatchingFiles }) => {
    frame.current ??= makeFrame()
    const form = document.createElement("form")
    form.method = "post"
    form.action = href("/api/files/archive")
    form.target = FRAME
    form.hidden = true
    for (const [name, value] of fieldsOf(which)) {
      const field = document.createElement("input")
      field.type = "hidden"
      field.name = name
      field.value = value
      form.append(field)
    }
    document.body.append(form)
    form.submit()
    form.remove()
  }
}
