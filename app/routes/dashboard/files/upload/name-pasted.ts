import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import type { Chosen } from "./upload.ts"

/** A copied image has no name of its own: all of them are `image.png`. */
export function namePasted({ file, handle }: Chosen, now: Date): Chosen {
  if (file.name !== "image.png") return { file, handle }
  const at = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())} ${two(now.getHours())}.${two(now.getMinutes())}.${two(now.getSeconds())}`
  const name = i18nOfDocument()._(msg`Pasted ${at}`)
  return { file: new File([file], `${name}.png`, { type: file.type, lastModified: file.lastModified }) }
}

function two(number: number): string {
  return String(number).padStart(2, "0")
}
