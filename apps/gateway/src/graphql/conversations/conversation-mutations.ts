import type { RenamedConversation } from '#core/conversations/conversations.ts'
import type { DeletedConversation } from '#core/conversations/delete-conversation.ts'
import type { RatedCall } from '#core/conversations/rate-call.ts'
import { CONVERSATION_DESCRIPTIONS } from '#http/descriptions/conversation-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { RATING } from '#resources/call-words.ts'
import { CONVERSATION } from '#resources/conversation.ts'
import { AT_PLATFORM, PASSED_ON } from '#resources/conversation-words.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { Conversation, TAKES } from './conversation.ts'

const PassedOn = vocabularyEnum(PASSED_ON)
const AtPlatform = vocabularyEnum(AT_PLATFORM)
const Rating = vocabularyEnum(RATING)

const RenameConversationInput = builder.inputType('RenameConversationInput', {
  description: 'The conversation to rename, and its name.',
  fields: (t) => ({
    id: t.id({ required: true, description: CONVERSATION.fields.id.description }),
    name: t.string({ description: CONVERSATION_DESCRIPTIONS.newName }),
  }),
})

const RenameConversationPayload = builder
  .objectRef<RenamedConversation>('RenameConversationPayload')
  .implement({
    description: 'What `renameConversation` has done.',
    fields: (t) => ({
      conversation: t.expose('conversation', {
        type: Conversation,
        description: 'The conversation with its name.',
      }),
      passedOn: t.expose('passedOn', { type: PassedOn, description: PASSED_ON.description }),
    }),
  })

const DeleteConversationInput = builder.inputType('DeleteConversationInput', {
  description: 'The conversation to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: CONVERSATION.fields.id.description }) }),
})

const DeleteConversationPayload = builder
  .objectRef<DeletedConversation>('DeleteConversationPayload')
  .implement({
    description: 'What `deleteConversation` has done.',
    fields: (t) => ({
      id: t.exposeID('id', { description: 'The id that the conversation had.' }),
      atPlatform: t.expose('atPlatform', {
        type: AtPlatform,
        description: AT_PLATFORM.description,
      }),
    }),
  })

const RateCallInput = builder.inputType('RateCallInput', {
  description: 'The call to rate, and what its user thinks of the answer.',
  fields: (t) => ({
    callId: t.id({ required: true, description: 'The id of the call.' }),
    rating: t.field({ type: Rating, description: CONVERSATION_DESCRIPTIONS.ratingGiven }),
    text: t.string({ description: CONVERSATION_DESCRIPTIONS.ratingText }),
  }),
})

const RateCallPayload = builder.objectRef<RatedCall>('RateCallPayload').implement({
  description: 'What `rateCall` has done.',
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'The id of the call.' }),
    rating: t.expose('rating', {
      type: Rating,
      nullable: true,
      description: CONVERSATION_DESCRIPTIONS.rating,
    }),
    text: t.exposeString('text', { nullable: true, description: CONVERSATION_DESCRIPTIONS.ratingText }),
    passedOn: t.expose('passedOn', { type: PassedOn, description: PASSED_ON.description }),
  }),
})

builder.mutationFields((t) => ({
  renameConversation: t.field({
    type: RenameConversationPayload,
    nullable: true,
    description: `Names a conversation, here and at the platform of its agent where that has names. ${TAKES}`,
    args: {
      input: t.arg({
        type: RenameConversationInput,
        required: true,
        description: 'The conversation and its name.',
      }),
    },
    resolve: (_root, { input: { id, name } }, context) =>
      context.services.conversations.rename(callerOf(context), id, name ?? null, showLimit(context.reply)),
  }),
  deleteConversation: t.field({
    type: DeleteConversationPayload,
    nullable: true,
    description: `Deletes a conversation at the platform of its agent, where that can, and here. Its id begins a new one from then on. Where the platform does not answer, nothing is deleted, and a repetition finishes it. ${TAKES}`,
    args: {
      input: t.arg({
        type: DeleteConversationInput,
        required: true,
        description: 'The conversation to delete.',
      }),
    },
    resolve: (_root, { input: { id } }, context) =>
      context.services.conversations.remove(callerOf(context), id, showLimit(context.reply)),
  }),
  rateCall: t.field({
    type: RateCallPayload,
    nullable: true,
    description: `Keeps with a call what its user thinks of the answer, and passes it on where the platform of its agent takes it. ${TAKES}`,
    args: { input: t.arg({ type: RateCallInput, required: true, description: 'The call and its rating.' }) },
    resolve: (_root, { input: { callId, rating, text } }, context) =>
      context.services.conversations.rate(
        callerOf(context),
        callId,
        { rating: rating ?? null, text: text ?? undefined },
        showLimit(context.reply),
      ),
  }),
}))
