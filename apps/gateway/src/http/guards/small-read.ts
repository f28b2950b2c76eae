import type { onSendHookHandler, preHandlerAsyncHookHandler } from 'fastify'
import type { EndTurn } from '#core/limits/sharing/owner-turns.ts'
import type { Services } from '#core/services/services.ts'
import { abortedWith } from '../request/aborted-with.ts'
import { showLimit } from '../response/show-headers.ts'
import { callerOf } from './credentials.ts'

/**
 * The hooks of a route that reads a little for an authenticated caller: they count it towards the limit of its credential
 * once the request has been found valid, and let the owner's requests take turns.
 */
export interface SmallReadHooks {
  readonly preHandler: preHandlerAsyncHookHandler
  readonly onSend: onSendHookHandler
}

export function smallRead({ reads }: Pick<Services, 'reads'>): SmallReadHooks {
  return {
    async preHandler(request, reply) {
      request.endRead = await reads.begin(callerOf(request), showLimit(reply), abortedWith(reply))
    },
    // Of errors as well, and whether or not the client is still there. A client that reads slowly holds no turn.
    onSend(request, _reply, payload, done) {
      request.endRead?.()
      done(null, payload)
    },
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by {@link smallRead}. */
    endRead?: EndTurn
  }
}
