import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import type { Conversation } from '#core/conversations/conversation-rows.ts'
import { NAME_LENGTH_MAX, type RenamedConversation } from '#core/conversations/conversations.ts'
import type { DeletedConversation } from '#core/conversations/delete-conversation.ts'
import { FEEDBACK_LENGTH_MAX, type RatedCall } from '#core/conversations/rate-call.ts'
import { recordFields } from '#http/request/body-schema.ts'
import { RATING } from './call-words.ts'
import { CONVERSATION } from './conversation.ts'
import { AT_PLATFORM, PASSED_ON } from './conversation-words.ts'
import { defineInput, required, within } from './define/define-input.ts'
import { defineResource } from './define/define-resource.ts'
import { id, nullable, text, words } from './define/fields.ts'

export const RENAME_CONVERSATION = defineInput(
  'RenameConversation',
  'The new name of a conversation.',
  {
    name: required(
      within(nullable(text('The new name, of 1 to 200 characters. Null takes the name back, here alone.')), {
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
      }),
    ),
  },
  {
    example: { name: 'Holiday plans' },
    otherFields: recordFields(CONVERSATION.schema, 'cannot be changed.'),
  },
)

const RATING_TEXT = 'What the user says about it, at most 2,000 characters.'

export const RATE_CALL = defineInput(
  'RateCall',
  'What a user thinks of an answer.',
  {
    rating: required(
      nullable(words(RATING, 'What the user thinks of the answer. Null takes a rating back.')),
    ),
    text: within(text(RATING_TEXT), { maxLength: FEEDBACK_LENGTH_MAX }),
  },
  { example: { rating: 'up', text: 'Just right.' } },
)

export const ERASE_END_USER = defineInput(
  'EraseEndUser',
  'The end user to erase.',
  {
    endUser: required(
      within(text('The end user, by the name that its calls gave.'), {
        minLength: 1,
        maxLength: ID_CHARACTERS_MAX,
      }),
    ),
    ownerId: within(
      text(
        'The id of the user to whom the API keys of the calls belong. Administrators must name one; for all others it is their own.',
      ),
      { maxLength: 64 },
    ),
  },
  { example: { end_user: 'ann', owner_id: '0192f0c1-7b6a-7c3e-9a4d-2f1e8b7c6d5a' } },
)

const PASSED = words(PASSED_ON, PASSED_ON.description)

/** A conversation with its name, and whether the platform has it as well. */
export const RENAMED_CONVERSATION = defineResource<Conversation & Pick<RenamedConversation, 'passedOn'>>()(
  'RenamedConversation',
  'The conversation with its name.',
  { ...CONVERSATION.fields, passedOn: PASSED },
)

export const DELETED_CONVERSATION = defineResource<DeletedConversation>()(
  'DeleteConversationPayload',
  'What `deleteConversation` has done.',
  { id: id('The id that the conversation had.'), atPlatform: words(AT_PLATFORM, AT_PLATFORM.description) },
)

export const RATED_CALL = defineResource<RatedCall>()('RateCallPayload', 'What `rateCall` has done.', {
  callId: id('The id of the call.'),
  rating: nullable(words(RATING, 'What the user thinks of the answer; null if it was not rated.')),
  text: nullable(text(RATING_TEXT)),
  passedOn: PASSED,
})
