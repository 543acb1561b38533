import * as v from "valibot"
import { ModifiedText } from "./modified.ts"

const Value = v.pipe(
  v.string(),
  v.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "is not Base64."),
  v.transform((text) => Buffer.from(text, "base64")),
)

const Pair = v.pipe(
  v.string(),
  v.trim(),
  v.regex(/^[^ ,]+(?: [^ ,]*)?$/, "is not pairs of a key and a value in Base64, with commas between them."),
  v.transform((pair) => {
    const [key = "", value = ""] = pair.split(" ")
    return { key, value }
  }),
  v.object({ key: v.string(), value: Value }),
)

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** tus defines no keys; these two are what clients use for the name. */
const NAME_KEYS = ["filename", "name"]

/**
 * The header `Upload-Metadata`: the file's name, and the header itself, to be returned to the
 * client. Its issues are phrased to follow the header's name.
 */
export const UploadMetadata = v.pipe(
  v.string("is missing: it says what the file is called."),
  v.maxLength(8192, "is longer than 8 KB."),
  v.transform((metadata) => ({ metadata, pairs: metadata.split(",") })),
  v.object({ metadata: v.string(), pairs: v.array(Pair) }),
  v.check(({ pairs }) => new Set(pairs.map(({ key }) => key)).size === pairs.length, "has a key twice."),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { metadata, pairs } = dataset.value
    const values = new Map(pairs.map(({ key, value }) => [key, value]))
    const name = NAME_KEYS.map((key) => values.get(key)).find((value) => value?.byteLength)
    if (!name) {
      addIssue({ message: "does not say what the file is called. Send: filename <the name in Base64>" })
      return NEVER
    }
    const modified = values.get("lastModified")
    const modifiedAt = v.safeParse(v.optional(ModifiedText), modified?.toString("latin1"))
    if (!modifiedAt.success) {
      addIssue({ message: "has a lastModified that is not in milliseconds since the epoch." })
      return NEVER
    }
    try {
      return { metadata, fileName: UTF8.decode(name), modifiedAt: modifiedAt.output }
    } catch {
      addIssue({ message: "has a file name that is not UTF-8." })
      return NEVER
    }
  }),
)
