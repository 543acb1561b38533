import { randomUUID } from "node:crypto"

const KEY = /^([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{4}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `aa/bb/<uuid>`: no folder of a store gets too many entries. */
export function newBlobKey(): string {
  return blobKeyOf(randomUUID())
}

export function blobKeyOf(id: string): string {
  return `${id.slice(0, 2)}/${id.slice(2, 4)}/${id}`
}

export function isBlobKey(key: string): boolean {
  return KEY.test(key)
}

/** Throws for a key that no store made: nothing a user sends can become a path. */
export function requireBlobKey(key: string): string {
  if (!isBlobKey(key)) throw new Error(`${JSON.stringify(key)} is not a valid blob store key.`)
  return key
}
