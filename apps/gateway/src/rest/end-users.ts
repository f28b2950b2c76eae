import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import { checkEndUser } from '#core/erasure/end-users.ts'
import type { Services } from '#core/services/services.ts'
import { callerOf, MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { bodySchema } from '#http/request/body-schema.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, problems, ref, success } from '#http/response/schemas.ts'
import { ERASED_END_USER } from '#resources/erased-end-user.ts'

/** What is done with all that belongs to an end user. */
export function endUserRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'endUsers' | 'authentication'>,
): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  app.addSchema(ERASED_END_USER.schema)
  app.addSchema(EraseEndUserSchema)
  const judge = (_request: unknown, { body }: SoundRequest) => {
    const { end_user } = (body ?? {}) as Partial<Static<typeof EraseEndUserSchema>>
    if (end_user !== undefined) checkEndUser(end_user)
  }
  const erasing = {
    schema: eraseSchema,
    onRequest: managerOnly(services),
    config: { judge },
  }
  routes.post('/api/v1/end-users/erase', erasing, async (request, reply) => {
    const { end_user, owner_id } = request.body
    const erased = await services.endUsers.erase(
      callerOf(request),
      { endUser: end_user, ownerId: owner_id },
      showLimit(reply),
    )
    return success(ERASED_END_USER.record(erased))
  })
}

const EraseEndUserSchema = bodySchema(
  {
    end_user: Type.String({
      minLength: 1,
      maxLength: ID_CHARACTERS_MAX,
      description: 'The end user, by the name that its calls gave.',
    }),
    owner_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'The id of the user to whom the API keys of the calls belong. Administrators must name one; for all others it is their own.',
      }),
    ),
  },
  {
    $id: 'EraseEndUser',
    description: 'The end user to erase.',
    examples: [{ end_user: 'ann', owner_id: '0192f0c1-7b6a-7c3e-9a4d-2f1e8b7c6d5a' }],
  },
)

const eraseSchema = {
  tags: ['conversations'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'eraseEndUser',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Erase an end user',
  description:
    'Stops the running calls of an end user, deletes its conversations at the platforms and here, its open questions, kept replies, ratings and uploads, and puts a pseudonym in the place of its name in the records of calls and in reports, whose sums stay. A platform that does not answer keeps its conversations, and a repetition finishes them. Users erase their own end users, and administrators those of any user. What calls of this end user store that begin meanwhile is left, so end its access first.',
  body: ref(EraseEndUserSchema),
  response: {
    200: envelope(ref(ERASED_END_USER.schema)),
    ...problems(...BODY_PROBLEMS, ...MANAGER_PROBLEMS, 'role_denied', 'rate_limited'),
  },
}
