import * as v from "valibot"

/**
 * Runs the command that the arguments name. Prints the reason if it fails, or `usage` if it does
 * not understand them.
 */
export async function runCommand<Schema extends v.GenericSchema>(
  schema: Schema,
  usage: string,
  run: (command: v.InferOutput<Schema>) => Promise<void>,
): Promise<void> {
  try {
    const command = v.safeParse(schema, process.argv.slice(2))
    if (!command.success) throw new Error(usage)
    await run(command.output)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
