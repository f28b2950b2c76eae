import type { Adapter, FileToUpload, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { isObject, type JsonObject } from '#core/base/values/json.ts'
import { isPlatformId } from './platform-id.ts'

/**
 * Creates the call of {@link Adapter.uploadFile}. Only here is the platform's id checked, so that every user of an adapter
 * may store it and send it back.
 *
 * @param idOf - returns the id from a reply, or undefined if the reply is an error
 */
export function uploadCall(
  file: FileToUpload,
  request: UpstreamRequest,
  toFailure: Adapter['toFailure'],
  idOf: (body: JsonObject) => unknown,
): HelperCall<{ readonly platformFileId: string }> {
  return {
    request,
    read(status, body, header) {
      const id = status < 400 && isObject(body) ? idOf(body) : undefined
      if (id === undefined) return { failure: withName(file.name, toFailure(status, body, header)) }
      return typeof id === 'string' && id !== '' && isPlatformId(id)
        ? { ok: { platformFileId: id } }
        : { failure: { reason: 'agent_malformed', platformStatus: status } }
    },
  }
}

/** Names the file if it is at fault, because a call may bring several. */
function withName(name: string, failure: Failure): Failure {
  if (failure.reason !== 'agent_rejected_input') return failure
  const message = failure.message ?? MESSAGE_BY_STATUS[failure.platformStatus ?? 0] ?? 'The file was refused.'
  return { ...failure, message: `${name}: ${message}` }
}

/** For replies without a text of the platform, such as the page of a proxy. */
const MESSAGE_BY_STATUS: Readonly<Record<number, string>> = {
  413: 'The file is too large for the agent platform.',
  415: 'The agent platform does not accept this type of file.',
}
