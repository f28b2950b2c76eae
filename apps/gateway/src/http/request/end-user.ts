import type { FastifyRequest } from 'fastify'
import type { ReadEndUser } from '#core/accounts/auth/authenticate.ts'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import { OTHERS } from '#core/erasure/end-users.ts'
import { isLongerThan } from '#core/requests/input/input-rules.ts'
import type { Services } from '#core/services/services.ts'
import { inHeader, RequestProblem } from './field-place.ts'
import { idOfHeader, requireOnce } from './request-headers.ts'

/** Reads the end user of a request from the header by which a trusted proxy names it, if there is such a header. */
export function endUserReader(
  request: FastifyRequest,
  { endUserHeader: header }: Pick<Services['authentication'], 'endUserHeader'>,
): ReadEndUser {
  if (header === undefined) return readNoEndUser
  return (isRequired) => {
    const value = request.headers[header]
    if (typeof value === 'string' && value !== '') return endUserIn(request, header, value)
    if (isRequired) throw new RequestProblem(inHeader(header), 'is required; expected an end user.')
    return undefined
  }
}

/** Of a request that no trusted proxy binds to an end user. */
export const readNoEndUser: ReadEndUser = () => undefined

function endUserIn(request: FastifyRequest, header: string, value: string): string {
  requireOnce(request, header)
  const endUser = idOfHeader(header, value)
  const mistake = mistakeOf(endUser)
  if (mistake !== undefined) throw new RequestProblem(inHeader(header), mistake)
  return endUser
}

/** The rules are those of `user` in a body. */
function mistakeOf(endUser: string): string | undefined {
  if (isLongerThan(endUser, ID_CHARACTERS_MAX))
    return `expected a string of at most ${ID_CHARACTERS_MAX} characters.`
  if (/\p{Cc}/u.test(endUser))
    return `expected at most ${ID_CHARACTERS_MAX} characters, no control characters or lone surrogates.`
  // Its reports would be those of all end users that are beyond the bound of a day.
  return endUser === OTHERS ? 'stands for several end users in reports; expected one.' : undefined
}
