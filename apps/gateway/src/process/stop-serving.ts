import type { Server } from 'node:http'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '#config/load.ts'
import { atMost } from '#core/base/async/at-most.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { CommandServer } from '#ops/command-socket.ts'
import { OpenResponses } from '#server/open-responses.ts'
import type { Gateway } from '../composition/gateway.ts'

/** How long calls are still served on connections that were opened before the listener closed. */
const LATE_MS = 1_000
/** How long after the drain a client may still read the last bytes of its response. */
const FLUSH_MS = 2_000
/** A turn of the event loop that took no longer had nothing to do. */
const IDLE_TURN_MS = 1
const TURNS_MAX = 200
/** So many connections may wait to be accepted; later ones are not served. */
const ACCEPTED_MAX = 4_096

/** What serves clients of a process. */
export interface Serving {
  readonly app: FastifyInstance
  /** Only beside an embedded database. */
  readonly commands: CommandServer | undefined
}

interface StopServing extends Serving {
  readonly gateway: Gateway
  readonly drain: Config['drain']
  readonly signal: string
  readonly log: Logger
}

/**
 * Stops in an order that clients do not notice: first the process reports that it is not ready, and goes on serving until load
 * balancers have seen it. Then the listener closes, what runs may end, and what still runs at the deadline is ended.
 *
 * @returns how many ends of calls could not be written
 */
export async function stopServing(parts: StopServing): Promise<number> {
  const { app, commands, gateway, drain, signal, log } = parts
  const { chat } = gateway.processTasks
  // Without a database no call is served that could be refused.
  const acceptMs = gateway.health.isPrepared ? drain.acceptMs : 0
  gateway.stop()
  const responses = new OpenResponses(app.server, app.openResponses())
  if (acceptMs > 0) {
    log.info({ signal, inFlight: chat.inFlight, acceptMs }, 'stopping')
    await pause(acceptMs)
  }
  await closeListener(app.server)
  log.info({ signal, inFlight: chat.inFlight }, 'draining')

  const deadlineMs = performance.now() + drain.timeoutMs
  const leftMs = () => Math.max(0, deadlineMs - performance.now())
  await pause(Math.min(acceptMs, LATE_MS, drain.timeoutMs))
  await Promise.all([gateway.drain(leftMs()), commands?.close(leftMs())])
  // Its hooks end the streams that outlive their operations. Other requests, such as exports, get the rest of the time.
  const closed = markRejectionHandled(app.close())
  await atMost(leftMs(), responses.ended())
  const cut = setTimeout(() => app.server.closeAllConnections(), FLUSH_MS)
  await closed
  clearTimeout(cut)
  return gateway.close()
}

/** Waits for responses that are still being sent, then closes the remaining connections. */
export async function closeServer(app: FastifyInstance): Promise<void> {
  const server: Server = app.server
  const cut = setTimeout(() => server.closeAllConnections(), FLUSH_MS)
  server.closeIdleConnections()
  await app.close()
  clearTimeout(cut)
}

/**
 * The system resets the connections that a listener has not accepted when it closes, and an idle connection may have a
 * request that has not been read. So both close right after a turn of the event loop in which nothing arrived. A turn accepts
 * one connection, however many wait.
 */
async function closeListener(server: Server): Promise<void> {
  let accepted = 0
  const onConnection = () => {
    accepted += 1
  }
  server.on('connection', onConnection)
  // The first one comes before the event loop asks the system again, and the next ones after it.
  await setImmediate()
  for (let turns = 0; turns < TURNS_MAX && accepted < ACCEPTED_MAX; ) {
    const before = accepted
    const startedMs = performance.now()
    await setImmediate()
    if (accepted > before) continue
    if (performance.now() - startedMs < IDLE_TURN_MS) break
    turns += 1
  }
  server.off('connection', onConnection)
  // This closes idle connections as well.
  server.close()
}
