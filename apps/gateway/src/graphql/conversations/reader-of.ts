import type { FastifyRequest } from 'fastify'
import { boundEndUser, type EndUserOptions } from '#http/request/end-user.ts'

/** The end user that a trusted proxy has named, who binds every request. */
export function readerOf({
  http,
  chatOptions,
}: {
  readonly http: FastifyRequest
  readonly chatOptions: EndUserOptions
}) {
  return { boundTo: boundEndUser(http, chatOptions) }
}
