import type { Adapter, HelperCall, PlatformHistory } from '#core/agents/adapter.ts'
import { failureOf } from '#core/agents/translate/failure.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { isObject, type JsonObject } from '#core/base/values/json.ts'

/**
 * Makes a call succeed also where the platform has no such conversation any more. A repeated deletion finds none, since the first one
 * was carried out, though nobody has read its reply.
 */
export function removal(call: HelperCall<void>): HelperCall<void> {
  const { read, older } = call
  return {
    ...call,
    ...(older !== undefined && { older: removal(older) }),
    read(status, body, header) {
      const result = read(status, body, header)
      const isGone = 'failure' in result && result.failure.reason === 'conversation_not_found'
      return isGone ? { ok: undefined } : result
    },
  }
}

/**
 * Makes a call that reads messages. A reply with a good status that is no error, and in which they are not either, is malformed.
 *
 * @param isError - whether a reply with a good status is one of an error
 */
export function reading<Result>(
  request: HelperCall<Result>['request'],
  toFailure: Adapter['toFailure'],
  accept: (body: JsonObject) => { ok: Result } | undefined,
  isError: (body: JsonObject) => boolean = () => false,
): HelperCall<Result> {
  const call = helperCall(request, toFailure, accept)
  return {
    ...call,
    read(status, body, header) {
      const result = call.read(status, body, header)
      const isMalformed = status < 400 && !(isObject(body) && isError(body))
      return 'failure' in result && isMalformed
        ? { failure: failureOf('agent_malformed', { status }) }
        : result
    },
  }
}

/** A page that begins at a place which a cursor names as a number: how many messages are before it, or after it. */
export function atPlace(
  before: string | undefined,
  make: (place: number | undefined) => HelperCall<PlatformHistory>,
): HelperCall<PlatformHistory> {
  if (before === undefined) return make(undefined)
  if (/^\d{1,9}$/.test(before)) return make(Number(before))
  // The call is made in vain, since only its reply can fail.
  const call = make(0)
  const read = () => ({ failure: WRONG_CURSOR })
  return { ...call, read, ...(call.older !== undefined && { older: { ...call.older, read } }) }
}

const WRONG_CURSOR = failureOf('agent_rejected_input', { message: 'There is no page at this place.' })
