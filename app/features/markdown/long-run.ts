import { classNames } from "#app/ui/class-names.ts"

/** Characters without a possible line break. */
const LONG_RUN = /\S{1000}/

/**
 * The class of an element for any text. With kerning or ligatures, no position within a run is safe
 * to break: the browser shapes the whole run again for each line, which takes seconds for tens of
 * thousands of characters.
 */
export function classOfText(text: string, className: string): string {
  return classNames(className, LONG_RUN.test(text) && "[font-kerning:none] [font-variant-ligatures:none]")
}
