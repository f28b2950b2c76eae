import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { refuseField } from '#core/base/errors/errors.ts'
import { eachOf } from '#core/requests/input/all-of.ts'
import { oneOf } from '#http/response/schemas.ts'

/** The parameter by which a list is downloaded. */
export const Format = {
  format: Type.Optional(oneOf(['json', 'csv'], 'The format of the response; the default is `json`.')),
}

const OF_CSV_ALONE: ReadonlySet<string> = new Set(['rows', 'labels'])
const OF_PAGES: ReadonlySet<string> = new Set(['limit', 'cursor'])

/**
 * Requires that no parameter belongs to another format than the requested one. The URL is read, because the validator has added
 * defaults to the parsed query.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function requireFormat({ url }: Pick<FastifyRequest, 'url'>): void {
  const query = new URLSearchParams(url.split('?', 2)[1])
  const formats = query.getAll('format')
  // The schema refuses any other format, and more than one.
  if (formats.length > 1 || !['json', 'csv'].includes(formats[0] ?? 'json')) return
  const isCsv = formats[0] === 'csv'
  const [others, text] = isCsv
    ? [OF_PAGES, 'cannot be combined with `format=csv`, which has no pages.']
    : [OF_CSV_ALONE, 'needs `format=csv`.']
  const wrong = [...new Set(query.keys())].filter((name) => others.has(name))
  eachOf(wrong, (name) => refuseField([name], text))
}

/** A range of times, and the time zone of its days. */
export function range({
  fromTime,
  toTime,
  timezoneName,
}: Record<'fromTime' | 'toTime' | 'timezoneName', string>) {
  return {
    from: Type.Optional(Type.String({ maxLength: 40, description: fromTime })),
    to: Type.Optional(Type.String({ maxLength: 40, description: toTime })),
    timezone: Type.Optional(Type.String({ maxLength: 64, default: 'UTC', description: timezoneName })),
  }
}

/** The response of a list that is JSON or CSV. */
export function csvOr(schema: object) {
  return {
    description: 'Success.',
    content: { 'application/json': { schema }, 'text/csv': { schema: Type.String() } },
  }
}
