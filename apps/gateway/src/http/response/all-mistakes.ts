import type { FastifyError, FastifyRequest } from 'fastify'
import { MISTAKES_MAX, Problem } from '#core/base/errors/errors.ts'
import { byRank } from '#core/requests/input/by-rank.ts'
import { type FieldPlace, nameOf, type PlacedMistake, placedMistakes } from '../request/field-place.ts'
import type { FormSchema } from '../request/shape-mistakes.ts'
import { judgeShape, resolved, type SoundRequest } from '../request/validation.ts'

/**
 * Every mistake of a request, in the order of its schema: those of its shape, and those against rules that the route can
 * judge without the database. A problem with a reason of its own stays the first, since status and text are its.
 */
export function allMistakes(
  request: FastifyRequest,
  problem: Problem,
  error: FastifyError | Problem,
): readonly PlacedMistake[] {
  const own = placedMistakes(request, problem)
  if (own.length === 0) return own
  const isOfShape = 'validation' in error && error.validation !== undefined
  const shape = isOfShape ? judgeShape(request) : undefined
  const shapeMistakes = shape?.mistakes ?? []
  const isFull = shapeMistakes.length >= MISTAKES_MAX
  const sound = shape?.sound ?? { body: request.body, query: request.query }
  const judged = isFull ? [] : judgedMistakes(request, sound)
  // What is missing, or of a wrong type, was left out of what the rules judged.
  const others = judged.filter(({ place }) => !shapeMistakes.some((known) => isWithin(place, known.place)))
  const all = distinct([...(shape === undefined ? own : shapeMistakes), ...others])
  const rankOf = ({ place }: PlacedMistake) => rankIn(request, place)
  const [first, ...rest] = problem.reason === 'invalid_request' ? byRank(all, rankOf) : all
  if (first === undefined) return own
  return [first, ...byRank(rest, rankOf)].slice(0, MISTAKES_MAX)
}

function judgedMistakes(request: FastifyRequest, sound: SoundRequest): readonly PlacedMistake[] {
  try {
    request.routeOptions.config?.judge?.(request, sound)
    return []
  } catch (refusal) {
    if (refusal instanceof Problem) return placedMistakes(request, refusal)
    throw refusal
  }
}

/** Whether one place is the other, or inside of it. */
function isWithin({ part, path }: FieldPlace, other: FieldPlace): boolean {
  return part === other.part && other.path.every((name, index) => path[index] === name)
}

/** The first of those in the same place. */
function distinct(mistakes: readonly PlacedMistake[]): PlacedMistake[] {
  const byPlace = Map.groupBy(mistakes, ({ place }) => nameOf(place))
  return [...byPlace.values()].flatMap((same) => same.slice(0, 1))
}

const PART_KEYS = { path: 'params', body: 'body', query: 'querystring', headers: 'headers' } as const

/** The position of a field among those of the schema; fields that the schema does not have come last. */
function rankIn(request: FastifyRequest, { part, path }: FieldPlace): readonly number[] {
  const key = PART_KEYS[part]
  const rank = [Object.keys(PART_KEYS).indexOf(part)]
  let form = request.routeOptions.schema?.[key] as FormSchema | undefined
  for (const name of path) {
    const fitting = form && fittingForm(request, form)
    if (typeof name === 'number') {
      rank.push(name)
      form = fitting?.items
    } else {
      const names = Object.keys(fitting?.properties ?? {})
      rank.push(names.includes(name) ? names.indexOf(name) : names.length)
      form = fitting?.properties?.[name]
    }
  }
  return rank
}

/** The alternative with fields or items, where there are several. */
function fittingForm(request: FastifyRequest, form: FormSchema): FormSchema {
  const schema = resolved(request, form)
  const alternatives = (schema.anyOf ?? []).map((alternative) => resolved(request, alternative))
  return alternatives.find(({ properties, items }) => properties ?? items) ?? schema
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Applies the rules of the route that need no database to a request whose shape may be wrong, and throws the problem. It
     * is called only for a request that is refused.
     */
    judge?: (request: FastifyRequest, sound: SoundRequest) => void
  }
}
