import { REFUSAL } from "./realtime/refusal-brand.ts"

/** An outcome that a user can cause. Recognise it with `isRefusal`, not with `instanceof`. */
export class Refusal extends Error {
  readonly [REFUSAL] = true
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

export class Unauthorized extends Refusal {
  constructor(message: string) {
    super(401, "Unauthorized", message)
  }
}

export class Forbidden extends Refusal {
  constructor(message: string) {
    super(403, "Forbidden", message)
  }
}

/** Also for what exists but belongs to another user. */
export class NotFound extends Refusal {
  constructor(what: string) {
    super(404, "NotFound", `There is no such ${what}, or it is not yours.`)
  }
}

/** The sender stopped sending. */
export class RequestTimeout extends Refusal {
  constructor(message: string) {
    super(408, "RequestTimeout", message)
  }
}

export class Conflict extends Refusal {
  constructor(message: string) {
    super(409, "Conflict", message)
  }
}

/** It existed once. */
export class Gone extends Refusal {
  constructor(message: string) {
    super(410, "Gone", message)
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

/** Another request is working on it. */
export class Locked extends Refusal {
  constructor(message: string) {
    super(423, "Locked", message)
  }
}

export class TooMany extends Refusal {
  constructor(message: string) {
    super(429, "TooMany", message)
  }
}

/** Not now, but perhaps in a moment. */
export class Unavailable extends Refusal {
  constructor(message: string) {
    super(503, "Unavailable", message)
  }
}

/** The store is full, or the user's share of it. */
export class OutOfSpace extends Refusal {
  constructor(message: string) {
    super(507, "OutOfSpace", message)
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && REFUSAL in error
}
