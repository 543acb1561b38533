/** Cuts a stream of server-sent events between them, wherever its packets were cut. An event keeps the empty line that ends it. */
export function splitEvents() {
  const decoder = new TextDecoder()
  let text = ""
  let end: string | null = null

  return {
    take(bytes: Uint8Array): string[] {
      text += decoder.decode(bytes, { stream: true })
      end ??= lineEnd(text)
      if (end === null) return []
      const events: string[] = []
      let from = 0
      for (let at = text.indexOf(end); at !== -1; at = text.indexOf(end, from)) {
        events.push(text.slice(from, at + end.length))
        from = at + end.length
      }
      text = text.slice(from)
      return events
    },
    /** What came after the last whole event. */
    rest(): string {
      return text + decoder.decode()
    },
  }
}

/** What ends an event here: a server ends all lines in the same way. */
function lineEnd(text: string) {
  const at = text.indexOf("\n")
  if (at === -1) return null
  return text[at - 1] === "\r" ? "\r\n\r\n" : "\n\n"
}
