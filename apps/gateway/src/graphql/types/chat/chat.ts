import type { TokenCounts } from '#core/agents/events.ts'
import { FINISH_REASONS } from '#http/descriptions/chat-descriptions.ts'
import { closed } from '#resources/define/vocabulary.ts'
import { builder } from '../../builder.ts'
import { vocabularyEnum } from '../../enum-of.ts'
import { JUDGES_CREDENTIALS, STARTS_CALL } from '../../serving/authentication-plugin.ts'
import type { ChatEnd, ChatItem, ChatStart, Numbered } from '../../streams/chat-items.ts'
import type { ChatReply as Reply } from '../../streams/chat-reply.ts'
import { itemOrThrow } from '../../streams/item-or-error.ts'
import { followChat, replyToChat } from '../../streams/start-chat.ts'
import { DetailUnion, detailTypeName, detailTypes, SEQUENCE } from './chat-detail.ts'
import { ChatFile } from './chat-file.ts'
import { Pause, PauseAnswerInput } from './chat-pause.ts'

const FinishReason = vocabularyEnum(
  closed(
    'FinishReason',
    Object.keys(FINISH_REASONS) as (keyof typeof FINISH_REASONS)[],
    'Why a reply ended.',
    FINISH_REASONS,
  ),
)

const TokenUsage = builder.objectRef<TokenCounts>('TokenUsage').implement({
  description: 'The tokens of one call, as its platform reported them.',
  fields: (t) => ({
    promptTokens: t.expose('promptTokens', { type: 'SafeInt', description: 'Tokens of the input.' }),
    completionTokens: t.expose('completionTokens', {
      type: 'SafeInt',
      description: 'Tokens of the reply.',
    }),
    totalTokens: t.expose('totalTokens', {
      type: 'SafeInt',
      description: 'All tokens, as the platform counts them.',
    }),
  }),
})

const ChatInput = builder.inputType('ChatInput', {
  description: 'A message to an agent.',
  fields: (t) => ({
    agentId: t.string({
      required: true,
      description: 'The id of the agent that answers, such as `fastgpt`.',
    }),
    query: t.string({
      required: true,
      description: 'The message. It must not be blank, except beside `answer`.',
    }),
    appId: t.string({
      description:
        'The id of the application on the platform. FastGPT needs it, and Coze where the gateway has no default bot; for the others it may be left out.',
    }),
    conversationId: t.string({
      description:
        'The conversation to continue: an id of your choice, such as `order-17`, or the `conversationId` of an earlier reply. Without it a new conversation begins; HiAgent needs it.',
    }),
    files: t.stringList({
      description: 'The http(s) URLs of files for the agent: those of your uploads, or other public ones.',
    }),
    variables: t.field({
      type: 'JSONObject',
      description: 'The input variables of the application on the platform, such as `{"language": "en"}`.',
    }),
    answer: t.field({
      type: PauseAnswerInput,
      description: 'Answers a pause of the conversation by its id.',
    }),
    endUser: t.string({
      description:
        'The end user on whose behalf you ask, by an id of your choice. Conversations of different end users are kept apart, and reports can be grouped by it. It is not believed where a trusted proxy names the end users of requests.',
    }),
    detail: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether the reply has the progress that the platform reports.',
    }),
    idempotencyKey: t.string({
      description:
        'Keeps the reply under this key of your choice (1 to 255 printable ASCII characters): the same chat can be repeated without another run, leaving does not stop the agent, and `chatResumed` follows the reply again. REST has it as the header `Idempotency-Key`.',
    }),
  }),
})

/** Of fields that both the items and the whole reply have. */
const DESCRIPTIONS = {
  conversationId: 'The id of the conversation. Send it with the next message to continue.',
  model: 'The model that the platform named, or else the agent.',
  usage: 'The tokens; null if the platform did not report them.',
  files: 'The files that the agent has made, at most 20.',
  pause: 'Where the run waits for the user; null if it has ended.',
}

export const ChatStarted = builder.objectRef<{ chat: ChatStart } & Numbered>('ChatStarted').implement({
  description:
    'The first item: the call has been admitted and counted, and the request to the agent follows.',
  fields: (t) => ({
    callId: t.id({ description: 'The id of the call, as `call(id)` finds it.', resolve: callId }),
    conversationId: t.string({ description: DESCRIPTIONS.conversationId, resolve: conversationId }),
    createdAt: t.field({ type: 'DateTime', description: 'When the call began.', resolve: createdAt }),
    sequence: t.exposeInt('sequence', SEQUENCE),
  }),
})

const ChatText = builder.objectRef<{ text: string } & Numbered>('ChatText').implement({
  description: 'The next piece of the text.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'Append it to what came before.' }),
    sequence: t.exposeInt('sequence', SEQUENCE),
  }),
})

const ChatTextReplaced = builder.objectRef<{ text: string } & Numbered>('ChatTextReplaced').implement({
  description:
    'The platform withdraws the text so far, for example after a moderation, and sends another one.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'Show it in the place of all that came before.' }),
    sequence: t.exposeInt('sequence', SEQUENCE),
  }),
})

const ChatFinished = builder.objectRef<ChatEnd & Numbered>('ChatFinished').implement({
  description: 'The last item of a complete reply. A reply that fails ends with an error instead.',
  fields: (t) => ({
    model: t.exposeString('model', { description: DESCRIPTIONS.model }),
    finishReason: t.expose('finishReason', { type: FinishReason, description: 'Why the reply ended.' }),
    usage: t.expose('usage', { type: TokenUsage, nullable: true, description: DESCRIPTIONS.usage }),
    files: t.field({
      type: [ChatFile],
      description: DESCRIPTIONS.files,
      resolve: ({ files }) => files,
    }),
    pause: t.expose('pause', { type: Pause, nullable: true, description: DESCRIPTIONS.pause }),
    sequence: t.exposeInt('sequence', SEQUENCE),
  }),
})

const ITEM_TYPES: Readonly<Record<string, string>> = {
  started: 'ChatStarted',
  text: 'ChatText',
  text_replaced: 'ChatTextReplaced',
  finished: 'ChatFinished',
}

export const Item = builder.unionType('ChatItem', {
  description:
    'One item of a reply in progress: `ChatStarted`, then texts and, if `detail` is true, details in their order, then `ChatFinished`.',
  types: [ChatStarted, ChatText, ChatTextReplaced, ChatFinished, ...detailTypes],
  resolveType: (item) => {
    const { type } = item as ChatItem
    return ITEM_TYPES[type] ?? detailTypeName(type)
  },
})

export const ChatReply = builder.objectRef<Reply>('ChatReply').implement({
  description: 'The whole reply of an agent.',
  fields: (t) => ({
    callId: t.id({ description: 'The id of the call, as `call(id)` finds it.', resolve: callId }),
    conversationId: t.string({ description: DESCRIPTIONS.conversationId, resolve: conversationId }),
    createdAt: t.field({ type: 'DateTime', description: 'When the call began.', resolve: createdAt }),
    text: t.exposeString('text', { description: 'The text of the reply.' }),
    model: t.exposeString('model', { description: DESCRIPTIONS.model }),
    finishReason: t.expose('finishReason', { type: FinishReason, description: 'Why the reply ended.' }),
    usage: t.expose('usage', { type: TokenUsage, nullable: true, description: DESCRIPTIONS.usage }),
    files: t.field({
      type: [ChatFile],
      description: DESCRIPTIONS.files,
      resolve: ({ files }) => files,
    }),
    pause: t.expose('pause', { type: Pause, nullable: true, description: DESCRIPTIONS.pause }),
    details: t.field({
      type: [DetailUnion],
      description: 'The progress that the platform reported, in its order. Empty unless `detail` is true.',
      resolve: ({ details }) => details,
    }),
  }),
})

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatReply,
    nullable: true,
    description:
      'Sends a message to an agent and waits for the whole reply. Takes an API key with the permission `CHAT`.',
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The message.' }) },
    extensions: JUDGES_CREDENTIALS,
    resolve: (_root, { input }, context) => replyToChat(input, context),
  }),
)

builder.subscriptionField('chat', (t) =>
  t.field({
    type: Item,
    nullable: true,
    description:
      'Sends a message to an agent and follows the reply while it is written. Takes an API key with the permission `CHAT`. Leaving stops the agent, unless the chat has an `idempotencyKey`. Ends with an error within a second when the key is revoked or expires or its owner is suspended, and when the gateway shuts down.',
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The message.' }) },
    extensions: STARTS_CALL,
    subscribe: (_root, { input }, context) => followChat(input, context),
    resolve: itemOrThrow,
  }),
)

interface OfChat {
  readonly chat: ChatStart
}

function callId({ chat }: OfChat): string {
  return chat.callId
}

function conversationId({ chat }: OfChat): string {
  return chat.conversationId
}

function createdAt({ chat }: OfChat): Date {
  return new Date(chat.created * 1000)
}
