import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on a free port, reports it to the parent process, and exits with the parent. */
export function serve(listener: RequestListener): void {
  const server = createServer(listener).listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port)
  })
  process.once('disconnect', () => process.exit())
}
