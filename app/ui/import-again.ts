/**
 * Loads a module, even if an earlier attempt failed. Browsers cache a failed import for the
 * lifetime of the document, but only under its exact URL, which the errors of Chromium and Firefox
 * contain. (https://github.com/whatwg/html/issues/6768)
 */
export async function importAgain<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    const address = /https?:\S+?\.js/.exec(String(error))?.[0]
    if (!address) throw error
    return (await import(/* @vite-ignore */ `${address}?again=${Date.now()}`)) as Module
  }
}
