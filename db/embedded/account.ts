import { execFileSync, spawn, spawnSync } from "node:child_process"
import { chownSync, lstatSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"

/** The account that PostgreSQL runs as if we are root, which it refuses to be. */
export interface Account {
  uid: number
  gid: number
  /** False if a parent folder is closed to the account, as /root is. */
  canEnter: boolean
}

/**
 * Null for a normal user: PostgreSQL then runs as that user. Otherwise one that can reach the folder
 * of the data and the others.
 */
export function findAccount(directory: string, ...others: (string | undefined)[]): Account | null {
  if (process.getuid?.() !== 0) return null
  const identity = ownerOf(directory) ?? named("postgres") ?? named("nobody")
  if (!identity) {
    throw new Error(
      "PostgreSQL does not run as root, and there is no other account. Start Tideline as a normal user.",
    )
  }
  const closed = [directory, ...others].find((path) => path !== undefined && !isOpen(path, identity))
  if (closed !== undefined && spawnSync("setpriv", ["--version"]).status !== 0) {
    throw new Error(
      `PostgreSQL does not run as root, and other accounts may not enter ${closed}. ` +
        "Start Tideline as a normal user, move it to a folder that is open, or install setpriv (util-linux).",
    )
  }
  return { ...identity, canEnter: closed === undefined }
}

/**
 * Starts one of PostgreSQL's programs under the account. Ctrl-C in the terminal does not reach it:
 * we stop it when we are ready.
 */
export function run(
  program: string,
  args: string[],
  { account, cwd }: { account: Account | null; cwd: string },
) {
  const options = {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"],
    env: environment(),
  }
  if (!account) return spawn(program, args, options)
  const { uid, gid, canEnter } = account
  if (canEnter) return spawn(program, args, { ...options, uid, gid })
  // The one capability that lets the account pass closed folders; it has nothing else of root's.
  // Without the secure bit, access(2), which initdb uses to look for its companions, would ignore
  // it.
  const capability = [
    "--securebits=+no_setuid_fixup",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
  ]
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"]
  return spawn("setpriv", [...identity, ...capability, "--", program, ...args], options)
}

export function ownEverything(path: string, account: Account) {
  chownSync(path, account.uid, account.gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) ownEverything(join(path, name), account)
}

/**
 * None of our environment: it contains secrets, and PG* variables would change what the programs
 * do.
 */
function environment() {
  return { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", TZ: "UTC" }
}

/**
 * The account that already owns the folder, so that the data stays readable to it. initdb requires
 * that it has a name.
 */
function ownerOf(directory: string) {
  const { uid, gid } = statSync(directory)
  if (uid !== 0) return lookUp("-un", String(uid)) === null ? null : { uid, gid }
  const parent = statSync(dirname(directory))
  return parent.uid !== 0 && lookUp("-un", String(parent.uid)) !== null
    ? { uid: parent.uid, gid: parent.gid }
    : null
}

function named(name: string) {
  const uid = lookUp("-u", name)
  const gid = lookUp("-g", name)
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null
}

function lookUp(what: "-u" | "-g" | "-un", name: string) {
  try {
    return execFileSync("id", [what, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return null
  }
}

function isOpen(path: string, { uid, gid }: { uid: number; gid: number }): boolean {
  const stat = statSync(path)
  const bit = stat.uid === uid ? 0o100 : stat.gid === gid ? 0o010 : 0o001
  return (stat.mode & bit) !== 0 && (path === dirname(path) || isOpen(dirname(path), { uid, gid }))
}
