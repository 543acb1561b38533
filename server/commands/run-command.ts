import * as v from "valibot"

/** Does what the words after the script's name ask for. Tells why where it cannot, or `usage` where it does not understand them. */
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
