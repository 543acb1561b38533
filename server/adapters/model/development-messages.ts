import * as v from "valibot"

/** The parts of a message that the development gateway reads. */
export interface ReceivedMessage {
  role: string
  text: string
  files: ReceivedFile[]
}

/** `beginning` is the first line of a text file; null for an image. */
export interface ReceivedFile {
  name: string | null
  kind: string
  beginning: string | null
}

type Content = string | unknown[] | null | undefined

export function readMessage({ role, content }: { role: string; content?: Content }): ReceivedMessage {
  const message: ReceivedMessage = { role, text: "", files: [] }
  // A message with a single text is sent as a string.
  for (const part of Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }]) {
    const file = readAttachedFile(part)
    if (file) message.files.push(file)
    else if (v.is(TextPart, part)) message.text += part.text
  }
  return message
}

/** All text, including that of files. */
export function textOf(content: Content): string {
  if (!Array.isArray(content)) return content ?? ""
  return content.map((part) => (v.is(TextPart, part) ? part.text : "")).join("")
}

const TextPart = v.object({ type: v.literal("text"), text: v.string() })

const ImagePart = v.object({ type: v.literal("image_url"), image_url: v.object({ url: v.string() }) })

function readAttachedFile(part: unknown): ReceivedFile | null {
  if (v.is(ImagePart, part)) {
    const kind = /^data:([\w/+.-]{1,100});/.exec(part.image_url.url)?.[1] ?? "an image by its address"
    return { name: null, kind, beginning: null }
  }
  if (!v.is(TextPart, part)) return null
  // The format in which the chat includes a text file in a message.
  const file =
    /^\[File ("(?:[^"\\]|\\.)*"), ([\w/+.-]+)\. .*\[End of ([\w-]+)\]\.\]\n(.*)[^]*\[End of \3\]$/.exec(
      part.text,
    )
  const [, name = "", kind = "", , beginning = ""] = file ?? []
  return file ? { name: String(JSON.parse(name)), kind, beginning: beginning.slice(0, 200) } : null
}
