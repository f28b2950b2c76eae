import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'
import { textOf } from '#core/values/json.ts'
import { omitUndefined } from '#core/values/omit-undefined.ts'

interface DetailFields {
  readonly id?: unknown
  readonly name?: unknown
  readonly status?: unknown
  readonly data?: unknown
  readonly seconds?: unknown
}

/** Creates a detail event from untrusted fields; those that are empty or of the wrong type are left out. */
export function detail(type: DetailEvent['type'], fields: DetailFields): ChatEvent {
  const elapsedMs = typeof fields.seconds === 'number' ? Math.round(fields.seconds * 1000) : Number.NaN
  return {
    type: 'detail',
    detail: omitUndefined({
      type,
      id: textOf(fields.id),
      name: textOf(fields.name),
      status: textOf(fields.status),
      data: fields.data,
      elapsed_ms: Number.isSafeInteger(elapsedMs) ? elapsedMs : undefined,
    }),
  }
}
