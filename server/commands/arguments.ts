import { parseArgs, type ParseArgsConfig } from "node:util"
import * as v from "valibot"

/** A command's arguments: the positional ones in order, and those that begin with `--` by name. */
interface Arguments {
  positionals: string[]
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
}

/**
 * A schema for the arguments: `options` says which may begin with `--`. Anything else prints the
 * usage.
 */
export function readArguments(options: NonNullable<ParseArgsConfig["options"]>, usage: string) {
  return v.pipe(
    v.array(v.string()),
    v.rawTransform<string[], Arguments>(({ dataset, addIssue, NEVER }) => {
      try {
        const { positionals, values } = parseArgs({ args: dataset.value, options, allowPositionals: true })
        return { positionals, values: { ...values } }
      } catch {
        addIssue({ message: usage })
        return NEVER
      }
    }),
  )
}
