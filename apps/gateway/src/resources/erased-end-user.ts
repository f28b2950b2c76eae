import type { ErasedEndUser } from '#core/erasure/end-users.ts'
import type { ErasedAtAgent } from '#core/erasure/erase-conversations.ts'
import { defineResource } from './define/define-resource.ts'
import { count, flag, id, name, nullable, objects, text } from './define/fields.ts'

const AT_AGENT = defineResource<ErasedAtAgent>()(
  'ErasedAtAgent',
  'What the platform of an agent has done with the conversations of an end user.',
  {
    agent: name('The id of the agent.'),
    deleted: count('The conversations that its platform has deleted, and that are deleted here.'),
    unsupported: count(
      'The conversations that are deleted here alone, because the platform cannot delete them, has nothing of them, or is not configured any more.',
    ),
    remaining: count(
      'The conversations that are left for a repetition. They are still listed by the old name, without which the platform does not find them.',
    ),
    reason: nullable(
      text('The reason of the last failure at the platform; null if nothing has failed there.'),
    ),
  },
)

export const ERASED_END_USER = defineResource<ErasedEndUser>()(
  'ErasedEndUser',
  'What the erasure of an end user has done, and what it has left.',
  {
    ownerId: id('The id of the user whose end user it was.'),
    pseudonym: text(
      'What takes the place of the name in the records of calls and in reports. It is the same for each erasure of this end user.',
    ),
    complete: flag('Whether nothing has the name any more. Repeat the request as long as it is false.'),
    stoppedCalls: count('The calls of the end user that ran, and were stopped.'),
    runningCalls: count('The calls that still run, or have begun meanwhile; they have the name.'),
    agents: objects(
      AT_AGENT,
      'What the platform of each agent has done with the conversations of the end user.',
    ),
    deletedUploads: count('The uploads that were deleted.'),
    remainingUploads: count('The uploads that are left, because the storage of files has failed.'),
  },
  {
    owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
    pseudonym: 'erased-5f0c2e9d8a7b4c3f6e1d',
    complete: false,
    stopped_calls: 0,
    running_calls: 0,
    agents: [{ agent: 'dify', deleted: 3, unsupported: 0, remaining: 1, reason: 'agent_unreachable' }],
    deleted_uploads: 2,
    remaining_uploads: 0,
  },
)
