import Type from 'typebox'
import { oneOf } from '#http/response/schemas.ts'

/** The parameter by which a list is downloaded. */
export const Format = {
  format: Type.Optional(oneOf(['json', 'csv'], 'The format of the response; the default is `json`.')),
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
