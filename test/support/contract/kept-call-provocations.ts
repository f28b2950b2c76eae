import { chatRequest, completionRequest, FAULTS, responseRequest } from './chat-provocations.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'
import { only, type Provocation } from './provocation.ts'

/** A request about a kept call, which has ended. */
export async function keptCallRequest(
  gateway: ContractGateway,
  more: Record<string, unknown> = {},
): Promise<OperationRequest> {
  const { as } = await keptChat(gateway, chatRequest(gateway), more)
  return as
}

/** Makes a kept call, and returns the requests that repeat it and that are about it. */
async function keptChat(
  gateway: ContractGateway,
  request: OperationRequest,
  more: Record<string, unknown> = {},
): Promise<{ readonly again: OperationRequest; readonly as: OperationRequest }> {
  const again = keptRequest(gateway, { ...request, body: { ...(request.body as object), ...more } })
  const { headers } = await gateway.send('chat', again)
  return {
    again,
    as: { ...(request.as !== undefined && { as: request.as }), id: headers['x-call-id'] ?? '' },
  }
}

function keptRequest(gateway: ContractGateway, request: OperationRequest): OperationRequest {
  return { ...request, headers: { ...request.headers, 'idempotency-key': gateway.fresh() } }
}

/** The process of such a call would have to die, so the row is written as another process then does. */
const INTERRUPT = `
UPDATE kept_calls SET outcome = 'interrupted', status = NULL, events = 0, reply = NULL, problem = '{"reason":"interrupted"}'
WHERE call_id = $1::uuid`

async function interrupt(gateway: ContractGateway, callId: string | undefined): Promise<void> {
  await gateway.query(INTERRUPT, [callId])
}

/** What the routes of kept calls, and the chat routes with an `Idempotency-Key`, document beside other things. */
export const KEPT_CALL_PROVOCATIONS: readonly Provocation[] = [
  ...(
    [
      ['chat', chatRequest],
      ['createCompletion', completionRequest],
      ['createResponse', responseRequest],
    ] as const
  ).flatMap(([id, requestTo]) => {
    const first = async (gateway: ContractGateway) => {
      const again = keptRequest(gateway, requestTo(gateway))
      const { headers } = await gateway.send(id, again)
      return {
        again,
        about: { ...(again.as !== undefined && { as: again.as }), id: headers['x-call-id'] ?? '' },
      }
    }
    return [
      only(id, 400, 'invalid_request', 'an Idempotency-Key that is too long', (good) => ({
        ...good,
        headers: { ...good.headers, 'idempotency-key': 'x'.repeat(256) },
      })),
      only(
        id,
        422,
        'idempotency_mismatch',
        'an Idempotency-Key of another request',
        async (_good, gateway) => {
          const { again } = await first(gateway)
          return { ...requestTo(gateway, undefined, 'Something else'), headers: { ...again.headers } }
        },
      ),
      only(id, 410, 'reply_gone', 'a reply that was deleted', async (_good, gateway) => {
        const { again, about } = await first(gateway)
        await gateway.send('deleteReply', about)
        return again
      }),
      only(id, 409, 'stopped', 'a call that was stopped', async (_good, gateway) => {
        const again = keptRequest(gateway, requestTo(gateway, undefined, 'sandbox:hang'))
        const answering = gateway.send(id, again)
        await stopped(gateway, again)
        await answering
        return again
      }),
      onServer(
        only(id, 502, 'interrupted', 'a call whose process has died', async (_good, gateway) => {
          const { again, about } = await first(gateway)
          await interrupt(gateway, about.id)
          return again
        }),
      ),
    ]
  }),
  ...['resumeCall', 'readReply', 'deleteReply'].map((id) =>
    only(id, 401, 'api_key_required', 'an access token', (good, gateway) => ({ ...good, as: gateway.token })),
  ),
  only('stopCall', 401, 'api_key_required', 'an Idempotency-Key named with a token', (good, gateway) => ({
    ...good,
    id: 'key:order-17',
    as: gateway.token,
  })),
  ...['resumeCall', 'readReply'].map((id) =>
    only(id, 410, 'reply_gone', 'a reply that was deleted', async (good, gateway) => {
      await gateway.send('deleteReply', { ...good })
      return good
    }),
  ),
  only('resumeCall', 400, 'invalid_request', 'an event after the last one', (good) => ({
    ...good,
    query: 'after=1000000',
  })),
  only('readReply', 202, undefined, 'a call that is running', async (_good, gateway) => {
    const again = keptRequest(gateway, chatRequest(gateway, undefined, 'sandbox:slow=2000'))
    gateway.send('chat', again).catch(() => undefined)
    const about = aboutKey(again)
    while ((await gateway.send('readReply', about)).status === 404);
    return about
  }),
  only('readReply', 409, 'stopped', 'a call that was stopped', async (_good, gateway) => {
    const again = keptRequest(gateway, chatRequest(gateway, undefined, 'sandbox:hang'))
    const answering = gateway.send('chat', again)
    await stopped(gateway, again)
    await answering
    return aboutKey(again)
  }),
  onServer(
    only('readReply', 502, 'interrupted', 'a call whose process has died', async (good, gateway) => {
      await interrupt(gateway, good.id)
      return good
    }),
  ),
  // A call of an app that the configuration lacks is not admitted.
  ...FAULTS.filter(([, , model]) => model !== 'apps/three').map(([status, reason, model, query]) =>
    only('readReply', status, reason, `"${query}" to ${model}`, async (_good, gateway) => {
      const { as } = await keptChat(gateway, chatRequest(gateway, model, query))
      return as
    }),
  ),
]

function onServer(provocation: Provocation): Provocation {
  return { ...provocation, needsServer: true }
}

/** Names a call by its `Idempotency-Key`, since its id is not known before it answers. */
function aboutKey({ as, headers }: OperationRequest): OperationRequest {
  return { ...(as !== undefined && { as }), id: `key:${headers?.['idempotency-key']}` }
}

async function stopped(gateway: ContractGateway, request: OperationRequest): Promise<void> {
  while ((await gateway.send('stopCall', aboutKey(request))).status === 404);
}
