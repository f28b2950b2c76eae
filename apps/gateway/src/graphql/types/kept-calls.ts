import { refuseField } from '#core/base/errors/errors.ts'
import type { StoppedCall } from '#core/calls/stop-calls.ts'
import { keptCallRefOf } from '#http/chat/kept-request.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { STOP_CALL, STOP_OUTCOME } from '#resources/call.ts'
import { CALL_OUTCOME } from '#resources/call-words.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { storedWord, vocabularyEnum } from '../enum-of.ts'
import { errorAsLastItem, type ItemOrError, itemOrThrow } from '../streams/item-or-error.ts'
import { followItems, type NumberedItem } from '../streams/kept-chats.ts'
import { Item } from './chat/chat.ts'

const CALL_ID =
  'The id of the call, or `key:` and its `idempotencyKey`, such as `key:order-17`: a client may not know the id yet.'

builder.subscriptionField('chatResumed', (t) =>
  t.field({
    type: Item,
    nullable: true,
    description:
      'Follows the reply of an earlier chat with an `idempotencyKey`, from the item after the one that you have, and goes on while the chat runs. It never starts another run: a reply whose process has died ends with the error `interrupted`. Takes an API key, which must be the one that made the call.',
    args: {
      callId: t.arg.id({ required: true, description: CALL_ID }),
      after: t.arg.int({
        required: true,
        defaultValue: 0,
        description: 'The `sequence` of the last item that you have; 0, the default, for all of them.',
      }),
    },
    subscribe: (_root, args, context) => resumeChat(args, context),
    resolve: itemOrThrow,
  }),
)

const StopCallInput = builder.inputType('StopCallInput', {
  description: 'The call to stop.',
  fields: (t) => ({ callId: t.id({ required: true, description: CALL_ID }) }),
})

const StopCallPayload = builder.objectRef<StoppedCall>('StopCallPayload').implement({
  description: 'What `stopCall` has done.',
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'The id of the call.' }),
    outcome: t.field({
      type: vocabularyEnum(CALL_OUTCOME),
      nullable: true,
      description: STOP_OUTCOME,
      resolve: ({ outcome }) => storedWord(CALL_OUTCOME, outcome),
    }),
  }),
})

builder.mutationField('stopCall', (t) =>
  t.field({
    type: StopCallPayload,
    nullable: true,
    description: `${STOP_CALL} Takes an access token or any API key.`,
    args: { input: t.arg({ type: StopCallInput, required: true, description: 'The call to stop.' }) },
    resolve: (_root, { input: { callId } }, context) =>
      context.services.callStops.stop(callerOf(context), keptCallRefOf(callId)),
  }),
)

/** The items of an earlier chat, for the API key that made it. It counts as a read. */
async function resumeChat(
  { callId, after }: { readonly callId: string; readonly after: number },
  context: GraphqlContext,
): Promise<AsyncIterableIterator<ItemOrError<NumberedItem>>> {
  const { http, services, signal } = context
  const caller = callerOf(context)
  if (after < 0) refuseField(['after'], 'must not be negative.')
  const endRead = await services.reads.begin(caller, showLimit(context.reply), signal)
  try {
    const kept = await services.replies.resume(caller, keptCallRefOf(callId), 'items')
    http.callId = kept.call.callId
    return errorAsLastItem(followItems(kept, after))
  } finally {
    // A reply may go on for an hour, in which its owner reads other things.
    endRead()
  }
}
