import type { FastifyRequest } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import { type FieldPath, joinPath, renameFields } from '#core/base/values/field-path.ts'

/** Where a field is in an HTTP request, by the names of the interface: `body.expires_at` or `headers.agent`. */
export interface FieldPlace {
  readonly part: 'body' | 'query' | 'headers' | 'path'
  readonly path: FieldPath
}

export function inBody(...path: FieldPath): FieldPlace {
  return { part: 'body', path }
}

export function inHeader(name: string): FieldPlace {
  return { part: 'headers', path: [name] }
}

/**
 * The places of the fields, by core's names, that a route does not take from their {@link usualPlace}. A function gets the
 * rest of the path, such as the index of an item.
 */
export type FieldPlaces = Readonly<Record<string, FieldPlace | ((rest: FieldPath) => FieldPlace)>>

/** A problem that the HTTP layer finds by itself, at a place that it knows. */
export class RequestProblem extends Problem {
  readonly place: FieldPlace
  readonly text: string

  constructor(place: FieldPlace, text: string) {
    super('invalid_request', { detail: `${nameOf(place)}: ${text}` })
    this.place = place
    this.text = text
  }
}

/** An input that is not valid, and what is wrong with it, by the names of the request. */
export interface PlacedMistake {
  readonly place: FieldPlace
  readonly text: string
}

/** The mistakes of a problem; empty if it is about no field. */
export function placedMistakes(request: FastifyRequest, problem: Problem): readonly PlacedMistake[] {
  if (problem instanceof RequestProblem) return [{ place: problem.place, text: problem.text }]
  const placeOf = (field: FieldPath) => findPlace(request, field)
  return problem.mistakes.map(({ field, text }) => ({
    place: placeOf(field),
    text: typeof text === 'string' ? text : text((other) => nameOf(placeOf(other))),
  }))
}

/** A problem, described by the names that fields have in the request. */
export interface DescribedProblem {
  readonly detail: string
  /** The field without the part of the request, for OpenAI's `param`; null if the problem is about no field. */
  readonly param: string | null
}

export function describeIn(request: FastifyRequest, problem: Problem): DescribedProblem {
  const [first] = placedMistakes(request, problem)
  if (first === undefined) return { detail: problem.detail, param: null }
  const { place, text } = first
  return {
    detail: `${nameOf(place)}: ${text}`,
    param: place.path.length === 0 ? null : joinPath(place.path),
  }
}

function findPlace(request: FastifyRequest, field: FieldPath): FieldPlace {
  const usual = usualPlace(request, field)
  const own = request.routeOptions.config?.fieldPlaces?.(request)[String(field[0])]
  if (typeof own === 'function') return own(usual.path.slice(1))
  return own === undefined ? usual : { part: own.part, path: [...own.path, ...usual.path.slice(1)] }
}

/** GET and HEAD carry their fields in the query, all other methods in the body, both in snake case. */
function usualPlace({ method }: FastifyRequest, field: FieldPath): FieldPlace {
  const part = method === 'GET' || method === 'HEAD' ? 'query' : 'body'
  return { part, path: renameFields(field, inSnakeCase) }
}

/** `body.expires_at`, as messages name the place. */
export function nameOf({ part, path }: FieldPlace): string {
  return joinPath([part, ...path])
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    fieldPlaces?: (request: FastifyRequest) => FieldPlaces
  }
}
