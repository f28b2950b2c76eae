import Type, { type Static } from 'typebox'
import type { ErasedEndUser } from '#core/erasure/end-users.ts'
import { nullable, uuid } from '#http/response/schemas.ts'

const count = (description: string) => Type.Integer({ description, examples: [0] })

export const ErasedEndUserSchema = Type.Object(
  {
    owner_id: uuid('The id of the user whose end user it was.'),
    pseudonym: Type.String({
      description:
        'What takes the place of the name in the records of calls and in reports. It is the same for each erasure of this end user.',
      examples: ['erased-5f0c2e9d8a7b4c3f6e1d'],
    }),
    complete: Type.Boolean({
      description: 'Whether nothing has the name any more. Repeat the request as long as it is false.',
      examples: [true],
    }),
    stopped_calls: count('The calls of the end user that ran, and were stopped.'),
    running_calls: count('The calls that still run, or have begun meanwhile; they have the name.'),
    agents: Type.Array(
      Type.Object({
        agent: Type.String({ description: 'The id of the agent.', examples: ['dify'] }),
        deleted: count('The conversations that its platform has deleted, and that are deleted here.'),
        unsupported: count(
          'The conversations that are deleted here alone, because the platform cannot delete them, has nothing of them, or is not configured any more.',
        ),
        remaining: count(
          'The conversations that are left for a repetition. They are still listed by the old name, without which the platform does not find them.',
        ),
        reason: nullable(
          Type.String({ examples: ['agent_unreachable'] }),
          'The reason of the last failure at the platform; null if nothing has failed there.',
        ),
      }),
      { description: 'What the platform of each agent has done with the conversations of the end user.' },
    ),
    deleted_uploads: count('The uploads that were deleted.'),
    remaining_uploads: count('The uploads that are left, because the storage of files has failed.'),
  },
  { $id: 'ErasedEndUser', description: 'What the erasure of an end user has done, and what it has left.' },
)

export function erasedRecord(erased: ErasedEndUser): Static<typeof ErasedEndUserSchema> {
  return {
    owner_id: erased.ownerId,
    pseudonym: erased.pseudonym,
    complete: erased.isComplete,
    stopped_calls: erased.stoppedCalls,
    running_calls: erased.runningCalls,
    agents: erased.agents.map(({ agent, deleted, unsupported, remaining, reason }) => {
      return { agent, deleted, unsupported, remaining, reason }
    }),
    deleted_uploads: erased.deletedUploads,
    remaining_uploads: erased.remainingUploads,
  }
}
