import * as v from "valibot"
import type { ErrorCode, MutationType } from "#live/contract"
import type { InputSchema } from "#live/check"
import type { Missing, Reason } from "#server/refusal-contract.ts"

/**
 * Who may call an operation: everybody who is signed in, those who are without an API key, those with
 * a standing in the space, the person it belongs to, for whom alone it exists, or an operator.
 */
export type May = "signed-in" | "session" | "member" | "editor" | "owner" | "holder" | "operator"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** By code: the reasons for which an operation is refused, besides those that every call shares. */
export type Refuses = { readonly [Code in ErrorCode]?: readonly Reason[] }

export interface Spec {
  /** One sentence, for the authors of clients. */
  about: string
  may: May
  input: InputSchema
  /** Nothing is returned without it. */
  output?: v.GenericSchema
  refuses?: Refuses
  /** If it is not what the domain's other operations are about. */
  missing?: Missing
  /** Without it, programs reach the operation through the socket only. */
  http?: {
    /**
     * Input that the path does not name is the query of GET and DELETE, and the body of the others.
     * `GET` makes it a read.
     */
    at: `${Method} /api/${string}`
    /** In the OpenAPI document. It never changes: clients are generated from it. */
    id: string
    /** The same for `HEAD`, where it is documented; `probe...` without it if `id` is `read...`. */
    probe?: string
    /** The field of the response that holds the output. The output is the whole body without it. */
    field?: string
    /** 201 instead of 200. */
    creates?: true
    /** Unless it is honoured, `If-Match` is refused. */
    honours?: "If-Match"
    /** The function is called with the `Idempotency-Key`, so that nothing is created twice. */
    once?: true
    /** The function cleans texts that the database cannot store. Without it they are refused. */
    cleansTexts?: true
  }
  /** The field of the output that the socket returns. The whole output without it. */
  returns?: string
  /** Not a mutation of the socket. */
  httpOnly?: true
}

interface Shared {
  /** Of the OpenAPI document. */
  tag: string
  /** What does not exist for those who may not see it, if there are such operations. */
  missing?: Missing
}

/** The fields of every record. */
export const record = {
  _id: v.pipe(
    v.string(),
    v.uuid(),
    v.description("Version 7 UUID: ids sort in the order in which their records were created."),
  ),
  _creationTime: v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch.")),
}

export type OutputOf<S> = S extends { output: infer Schema extends v.GenericSchema }
  ? v.InferOutput<Schema>
  : void

type ReturnedBy<S> = S extends { returns: infer Field } ? OutputOf<S>[Field & keyof OutputOf<S>] : OutputOf<S>

/** A declared operation, as HTTP, the documents and the tests read it. */
export type Declared = Spec & Shared & { readonly name: string }

/** The same with its types, as the page calls it. */
type DeclaredAs<Name extends string, S extends Spec> = S &
  Shared &
  MutationType<Name, v.InferInput<S["input"]>, ReturnedBy<S>>

/**
 * Declares a domain's operations once, in a module that browsers may import. `implement` gives each its
 * function, and a line in `server/domains.ts` makes everything else from the two.
 */
export function operations<const Name extends string>(name: Name, shared: Shared) {
  return <const Specs extends Record<string, Spec>>(
    specs: Specs,
  ): { readonly [Key in keyof Specs & string]: DeclaredAs<`${Name}.${Key}`, Specs[Key]> } => {
    const declared = Object.entries(specs).map(([key, spec]) => [
      key,
      { ...shared, ...spec, name: `${name}.${key}` },
    ])
    // Which key has which value is forgotten on the way, for every type.
    return Object.fromEntries(declared) as never
  }
}

/** Where an operation is over HTTP, with the values that its path names. */
export function urlOf<At extends string>(
  { http }: { readonly http: { readonly at: At } },
  values: Readonly<Record<Named<At>, string>>,
): string {
  const path = http.at.slice(http.at.indexOf("/"))
  return path.replaceAll(/:(\w+)/g, (_all, name: Named<At>) => encodeURIComponent(values[name]))
}

type Named<At> = At extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Named<Rest>
  : At extends `${string}:${infer Name}`
    ? Name
    : never
