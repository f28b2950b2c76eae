import { once } from 'node:events'
import { request, WebSocket } from 'undici'

/** Collects the garbage of a process whose inspector listens on this port, and returns the bytes in use on its heap. */
export async function heapAfterCollection(inspectorPort: number | undefined): Promise<number> {
  if (inspectorPort === undefined) throw new Error('the process is not inspected')
  const { body } = await request(`http://127.0.0.1:${inspectorPort}/json/list`)
  const [target] = (await body.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  try {
    await once(socket, 'open')
    await ask(socket, 1, 'HeapProfiler.collectGarbage', {})
    const expression = 'process.memoryUsage().heapUsed'
    const { result } = await ask(socket, 2, 'Runtime.evaluate', { expression })
    return result.result?.value ?? Number.NaN
  } finally {
    socket.close()
  }
}

interface Reply {
  readonly id?: number
  readonly result: { readonly result?: { readonly value?: number } }
}

async function ask(socket: WebSocket, id: number, method: string, params: object): Promise<Reply> {
  socket.send(JSON.stringify({ id, method, params }))
  for (;;) {
    const [{ data }] = (await once(socket, 'message')) as [{ data: string }]
    const reply: Reply = JSON.parse(data)
    if (reply.id === id) return reply
  }
}
