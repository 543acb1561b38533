/**
 * Outcomes that a user can cause. Recognise them by `status`, not by `instanceof`: in development this module exists twice,
 * once in Node and once in Vite.
 */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = code
    this.status = status
    this.code = code
  }
}

export class BadRequest extends Refusal {
  constructor(message: string) {
    super(400, "BadRequest", message)
  }
}

export class Forbidden extends Refusal {
  constructor(message: string) {
    super(403, "Forbidden", message)
  }
}

/** Also the answer for what exists but belongs to somebody else. */
export class NotFound extends Refusal {
  constructor(what: string) {
    super(404, "NotFound", `There is no such ${what}, or it is not yours.`)
  }
}

export class Conflict extends Refusal {
  constructor(message: string) {
    super(409, "Conflict", message)
  }
}

export class TooLarge extends Refusal {
  constructor(message: string) {
    super(413, "TooLarge", message)
  }
}

export class UnsupportedType extends Refusal {
  constructor(message: string) {
    super(415, "UnsupportedType", message)
  }
}

/** The store is full, or the user's part of it. */
export class OutOfSpace extends Refusal {
  constructor(message: string) {
    super(507, "OutOfSpace", message)
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && "status" in error && typeof error.status === "number" && "code" in error
}
