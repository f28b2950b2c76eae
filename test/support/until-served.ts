import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Sends a request again, as clients do, where the gateway is not available: on a machine with too much to do, an admission may
 * take longer than its two seconds. Nothing of such a request has reached the platform.
 */
export async function untilServed(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await send()
    const mayBeUnavailable = response.status === 503 && !response.headers.has('x-call-id')
    if (!mayBeUnavailable || !(await response.clone().text()).includes('"unavailable"')) return response
    await sleep(Number(response.headers.get('retry-after')) * 1_000)
  }
}
