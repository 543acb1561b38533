// Preloaded into the process of a drill that may not mount a file system: once the file DISK_FULL
// exists, files under DATA_DIR cannot be written. PostgreSQL's own writes succeed.
const fs = require("node:fs")
const { syncBuiltinESMExports } = require("node:module")

const { open } = fs.promises
fs.promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest)
  for (const name of ["write", "writev", "writeFile", "appendFile"]) {
    const write = handle[name].bind(handle)
    handle[name] = async (...values) => {
      if (fs.existsSync(process.env.DISK_FULL))
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
      return write(...values)
    }
  }
  return handle
}
syncBuiltinESMExports()
