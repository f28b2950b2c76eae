import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { EventEmitter } from 'node:events'
import { isObject } from '#core/base/values/json.ts'
import { onceChannelEnded } from '#ops/cluster/channel-end.ts'

/** A connection as Node's cluster module passes it on, of which this process has a copy until the worker has its own. */
interface Handle {
  close(): void
}

/**
 * In the primary: closes the connections that were on their way to a worker that has ended. Node's cluster module waits for
 * ever for the answer of a worker that was killed, and keeps its copy of the connection open meanwhile: its client would
 * get neither an answer nor an end. A connection is not given to another worker, since its request may have been read.
 *
 * It watches the messages between the cluster module and the worker, which Node does not document. If their form changes, this
 * does nothing, and a test fails.
 */
export function closeHandedOver(worker: Worker): void {
  const { process: child } = worker
  const onTheirWay = new Map<number, Handle>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  child.send = ((message: unknown, handle: unknown, ...rest: unknown[]) => {
    if (isHandOver(message) && isHandle(handle)) onTheirWay.set(message.seq, handle)
    return send(message, handle, ...rest)
  }) as ChildProcess['send']
  const channel: EventEmitter = child
  channel.on('internalMessage', (message: unknown) => {
    if (isAnswer(message)) onTheirWay.delete(message.ack)
  })
  // No answer can come any more. A worker that goes on without its channel has copies of its own, which stay open.
  onceChannelEnded(worker, () => {
    for (const handle of onTheirWay.values()) handle.close()
    onTheirWay.clear()
  })
}

function isHandOver(message: unknown): message is { readonly seq: number } {
  return isObject(message) && message.act === 'newconn' && typeof message.seq === 'number'
}

function isAnswer(message: unknown): message is { readonly ack: number } {
  return isObject(message) && typeof message.ack === 'number'
}

function isHandle(handle: unknown): handle is Handle {
  return isObject(handle) && typeof handle.close === 'function'
}
