import { useToast } from "#app/ui/toast.tsx"
import { chosenOf, itemsOf } from "./dropped-files.ts"
import type { Chosen } from "./upload.ts"

/**
 * Reads the files of a drop or a paste, those inside folders too, and names what could not be read.
 * Call the function while the event is being handled.
 */
export function useDroppedFiles(): (transfer: DataTransfer) => Promise<Chosen[]> {
  const { show } = useToast()
  return async (transfer) => {
    const items = itemsOf(transfer)
    if (!items.some(({ entry }) => entry?.isDirectory)) return (await Promise.all(items.map(chosenOf))).flat()
    const { readFolders } = await import("./read-folders.ts")
    const { chosen, messages } = await readFolders(items)
    for (const message of messages) show(message)
    return chosen
  }
}
