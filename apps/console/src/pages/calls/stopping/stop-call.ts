import { CallDocument, type CallFieldsFragment, CallsDocument } from '../../../generated/graphql.ts'
import { client } from '../../../session/gateway.ts'
import { graphqlQuery, invalidate, queryClient } from '../../../session/queries.ts'

/** How a call is after its stop was requested. */
export type StopResult = 'stopped' | 'ended' | 'running'

const ASK_EVERY_MS = 500
/** A call ends within a second of its stop, and its end is written a moment later. */
const ASK_TIMES = 10

/** Stops a call and waits until it has ended, which it may have done by itself. */
export async function stopCall(id: string): Promise<StopResult> {
  const { outcome } = await client.calls.stop(id)
  const result = outcome === null ? await resultOf(id) : 'ended'
  await invalidate(CallDocument, CallsDocument)
  return result
}

async function resultOf(id: string): Promise<StopResult> {
  for (let times = 0; times < ASK_TIMES; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
    const { call } = await queryClient.fetchQuery({ ...graphqlQuery(CallDocument, { id }), staleTime: 0 })
    if (call !== null && call !== undefined && !isRunning(call))
      return call.reason === 'stopped' ? 'stopped' : 'ended'
  }
  return 'running'
}

export function isRunning({ outcome }: Pick<CallFieldsFragment, 'outcome'>): boolean {
  return outcome === null
}
