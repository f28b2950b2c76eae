import type { FastifyInstance } from 'fastify'
import { checkEndUser } from '#core/erasure/end-users.ts'
import { ifGiven } from '#core/requests/input/all-of.ts'
import type { Services } from '#core/services/services.ts'
import { MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { ERASE_END_USER } from '#resources/conversation-forms.ts'
import { ERASED_END_USER } from '#resources/erased-end-user.ts'
import { recordRoutes } from './resources/record-route.ts'

/** What is done with all that belongs to an end user. */
export function endUserRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'endUsers' | 'authentication'>,
): void {
  app.addSchema(ERASED_END_USER.schema)
  recordRoutes(app, {
    of: ERASED_END_USER,
    tag: 'conversations',
    onRequest: managerOnly(services),
    guardReasons: MANAGER_PROBLEMS,
    viewOf: () => undefined,
  })('POST', '/api/v1/end-users/erase', {
    operationId: 'eraseEndUser',
    summary: 'Erase an end user',
    description:
      'Stops the running calls of an end user, deletes its conversations at the platforms and here, its open questions, kept replies, ratings and uploads, and puts a pseudonym in the place of its name in the records of calls and in reports, whose sums stay. A platform that does not answer keeps its conversations, and a repetition finishes them. Users erase their own end users, and administrators those of any user. What calls of this end user store that begin meanwhile is left, so end its access first.',
    input: ERASE_END_USER,
    check: (_caller, { endUser }) => ifGiven(endUser, checkEndUser),
    reasons: ['role_denied', 'rate_limited'],
    call: ({ caller, given, onLimit }) => services.endUsers.erase(caller, given, onLimit),
  })
}
