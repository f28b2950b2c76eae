import type { FastifyRequest } from 'fastify'
import { type FieldPlace, inBody, inHeader } from './field-place.ts'
import { idOfHeader } from './id-header.ts'
import { requireOnce } from './repeated-headers.ts'

export interface EndUserOptions {
  /** The request header in which a trusted proxy names the end user. */
  readonly endUserHeader?: string | undefined
}

/**
 * The end user that a trusted proxy has named; undefined if there is none.
 *
 * @throws Problem `invalid_request` if the header was sent more than once or is no id
 */
export function boundEndUser(request: FastifyRequest, { endUserHeader }: EndUserOptions): string | undefined {
  const value = headerOf(request, endUserHeader)
  if (endUserHeader === undefined || value === undefined) return undefined
  requireOnce(request, endUserHeader)
  return idOfHeader(endUserHeader, value)
}

/** The header of a trusted proxy takes precedence over the body, which the users behind that proxy may be able to set. */
export function endUserOf(
  request: FastifyRequest,
  options: EndUserOptions,
  user: string | null | undefined,
): string {
  return boundEndUser(request, options) ?? user ?? ''
}

/** The place from which {@link endUserOf} takes the end user, for error messages. */
export function endUserPlace(request: FastifyRequest, { endUserHeader }: EndUserOptions): FieldPlace {
  return endUserHeader === undefined || headerOf(request, endUserHeader) === undefined
    ? inBody('user')
    : inHeader(endUserHeader)
}

function headerOf(request: FastifyRequest, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
