import { classNames } from "#app/ui/class-names.ts"

/** Characters without a place to break a line. */
const LONG_RUN = /\S{1000}/

/**
 * The class of an element with a text of any kind. Where emails are kerned, no place in a run is
 * safe to break: the browser shapes all of the run again for each line, which takes seconds for
 * tens of thousands of characters.
 */
export function classOfText(text: string, className: string): string {
  return classNames(className, LONG_RUN.test(text) && "[font-kerning:none] [font-variant-ligatures:none]")
}
