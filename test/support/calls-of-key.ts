import type { GatewayWithSandbox } from './gateway-with-sandbox.ts'
import { until } from './until.ts'

/** What tests read of a record of `GET /api/v1/calls`. */
export interface CallRecord {
  readonly face: string
  readonly conversation: string
  readonly outcome: string
  readonly reason: string | null
  readonly total_tokens: number | null
}

/** An API key of its own, by which the calls of one client are recognized. */
export interface CountedKey {
  readonly apiKey: string
  /** Returns the calls of the key once at least `count` are listed and all have ended, the newest first. */
  calls(count: number): Promise<readonly CallRecord[]>
}

export async function createCountedKey({ api, token }: GatewayWithSandbox): Promise<CountedKey> {
  const { id, full_key: apiKey } = await api.createKey(token)
  return {
    apiKey,
    calls: (count) =>
      until(`${count} calls have ended`, async () => {
        const { body } = await api.call('GET', `/api/v1/calls?limit=100&key_id=${id}`, { token })
        const listed: readonly CallRecord[] = body.data.items
        return listed.length >= count && listed.every(({ outcome }) => outcome !== null) && listed
      }),
  }
}
