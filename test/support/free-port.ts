import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port at which nothing ever listens: too low for the ports that systems give away, and of a service that is not run anymore. */
export const CLOSED_PORT = 9

/**
 * A port at which nothing listens now.
 *
 * It is below the ports that systems choose when port 0 is requested, so that no server or connection of another test takes it
 * before it is used, or while a gateway that has it is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
