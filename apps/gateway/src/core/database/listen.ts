import { Socket } from 'node:net'
import pg from 'pg'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { Subscription } from './database.ts'

export interface ListenOptions {
  readonly url: string
  readonly connectTimeoutMs: number
  readonly channel: string
  readonly onMessage: (message: string) => void
}

/** How long a server is given to close a connection, before the socket is destroyed. */
const CLOSED_WITHIN_MS = 500

/** Receives the notifications of a channel on a connection of its own, which is not opened again when it is lost. */
export function listen({ url, connectTimeoutMs, channel, onMessage }: ListenOptions): Subscription {
  // Of our own, because a server that does not answer would keep the socket of a closed client open.
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => socket,
  })
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
  // Without a listener, the loss of the connection would end the process.
  client.on('error', () => undefined)
  client.on('notification', ({ payload = '' }) => onMessage(payload))

  async function open(): Promise<void> {
    await client.connect()
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
  }
  return {
    opened: markRejectionHandled(open()),
    ended,
    async close() {
      markRejectionHandled(client.end())
      await Promise.race([ended, sleep(CLOSED_WITHIN_MS)])
      socket.destroy()
    },
  }
}
