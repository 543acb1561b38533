/**
 * Loads a module, also where it could not be fetched before: browsers keep a failure for as long as
 * the document lives, but only under the module's own address, which Chromium and Firefox tell.
 * (https://github.com/whatwg/html/issues/6768)
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
