import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { type NeighbourLoad, NUMBER } from './neighbours-requests.ts'

/**
 * A process that sends requests, so many at a time, until its parent says that it is enough, and then reports how they were
 * answered. A request that is refused for now is repeated when the gateway says.
 */
const load: NeighbourLoad = JSON.parse(process.argv[2] ?? '')
const pool = new Pool(load.origin, {
  connections: load.atOnce,
  headersTimeout: 120_000,
  bodyTimeout: 120_000,
})
const answers: Record<string, number> = {}
const form = load.uploadBytes === undefined ? undefined : formOf(load.uploadBytes)
let sent = 0
let isOver = false

process.once('message', () => {
  isOver = true
  process.send?.(answers, () => process.exit())
})
process.once('disconnect', () => process.exit())
await Promise.all(Array.from({ length: load.atOnce }, repeat))

async function repeat(): Promise<void> {
  while (!isOver) {
    sent += 1
    const body = form ?? load.body?.replace(NUMBER, String(sent))
    const {
      statusCode,
      headers,
      body: reply,
    } = await pool.request({
      method: load.method,
      path: load.path,
      headers: load.headers,
      ...(body !== undefined && { body }),
    })
    const text = await reply.text()
    answers[statusCode] = (answers[statusCode] ?? 0) + 1
    if (statusCode >= 400) await pause(Number(headers['retry-after'] ?? 1) * 1_000)
    else if (load.uploadBytes !== undefined) await remove((JSON.parse(text) as Uploaded).data.id)
  }
}

interface Uploaded {
  readonly data: { readonly id: string }
}

/** Otherwise a minute of uploads would fill the disk. */
async function remove(id: string): Promise<void> {
  const { authorization = '' } = load.headers
  const { body: reply } = await pool.request({
    method: 'DELETE',
    path: `/api/v1/uploads/${id}`,
    headers: { authorization },
  })
  await reply.dump()
}

function formOf(bytes: number): Buffer {
  const part = (disposition: string) =>
    `--${load.boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`
  return Buffer.concat([
    Buffer.from(`${part('name="created_by"')}\r\nbench\r\n`),
    Buffer.from(`${part('name="file"; filename="notes.txt"')}Content-Type: text/plain\r\n\r\n`),
    Buffer.alloc(bytes, 'A line of a long text.\n'),
    Buffer.from(`\r\n--${load.boundary}--\r\n`),
  ])
}
