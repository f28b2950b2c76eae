import type { RenamedConversation } from '#core/conversations/conversations.ts'
import { CONVERSATION } from '#resources/conversation.ts'
import {
  DELETED_CONVERSATION,
  RATE_CALL,
  RATED_CALL,
  RENAME_CONVERSATION,
  RENAMED_CONVERSATION,
} from '#resources/conversation-forms.ts'
import { PASSED_ON } from '#resources/conversation-words.ts'
import { builder } from '../builder.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { formMutation } from '../resources/record-mutation.ts'
import { resourceType } from '../resources/resource-type.ts'
import { Conversation, TAKES } from './conversation.ts'

const RenameConversationPayload = builder
  .objectRef<RenamedConversation>('RenameConversationPayload')
  .implement({
    description: 'What `renameConversation` has done.',
    fields: (t) => ({
      conversation: t.expose('conversation', {
        type: Conversation,
        description: RENAMED_CONVERSATION.description,
      }),
      passedOn: t.expose('passedOn', {
        type: vocabularyEnum(PASSED_ON),
        description: PASSED_ON.description,
      }),
    }),
  })

const id = ['id', CONVERSATION.fields.id.description] as const

formMutation(
  RenameConversationPayload,
  {
    name: 'renameConversation',
    description: `Names a conversation, here and at the platform of its agent where that has names. ${TAKES}`,
    takes: 'The conversation to rename, and its name.',
    input: RENAME_CONVERSATION,
    call: ({ conversations }, { caller, id, given: { name }, onLimit }) =>
      conversations.rename(caller, id, name, onLimit),
  },
  id,
)

formMutation(
  resourceType(DELETED_CONVERSATION),
  {
    name: 'deleteConversation',
    description: `Deletes a conversation at the platform of its agent, where that can, and here. Its id begins a new one from then on. Where the platform does not answer, nothing is deleted, and a repetition finishes it. ${TAKES}`,
    takes: 'The conversation to delete.',
    call: ({ conversations }, { caller, id, onLimit }) => conversations.remove(caller, id, onLimit),
  },
  id,
)

formMutation(
  resourceType(RATED_CALL),
  {
    name: 'rateCall',
    description: `Keeps with a call what its user thinks of the answer, and passes it on where the platform of its agent takes it. ${TAKES}`,
    takes: 'The call to rate, and what its user thinks of the answer.',
    input: RATE_CALL,
    call: ({ conversations }, { caller, id, given, onLimit }) =>
      conversations.rate(caller, id, given, onLimit),
  },
  ['callId', RATED_CALL.fields.callId.description],
)
