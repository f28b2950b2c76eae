import cluster, { type Worker } from 'node:cluster'
import { type Config, type ConfigDocument, ConfigError } from '#config/load.ts'
import { messageOf } from '#core/database/unusable-database.ts'
import { isMessage, sendTo, type WorkerMessage } from '#ops/cluster/messages.ts'
import { readAnew } from './configuration-file.ts'

/**
 * In the primary: reads the configuration file for its workers, so that all of them serve the same one, and gives a worker that
 * starts what the others serve.
 */
export function servePrimaryConfiguration(running: Config, sandboxAgents: ConfigDocument['sandboxAgents']) {
  let document: unknown = { ...running.document, ...(sandboxAgents !== undefined && { sandboxAgents }) }
  const serving = new Set<Worker>()

  async function answer(worker: Worker, { id, isAnew }: { id: number; isAnew: boolean }): Promise<void> {
    const read = isAnew ? await readDocument(running) : { document, issues: [] }
    sendTo(worker, { kind: 'configuration', answers: id, ...read })
  }

  cluster.on('message', (worker, message: unknown) => {
    if (isMessage<WorkerMessage, 'configuration?'>('configuration?', message))
      answer(worker, message).catch(() => undefined)
    else if (isMessage<WorkerMessage, 'served'>('served', message)) {
      document = message.document
      for (const other of Object.values(cluster.workers ?? {}))
        if (other !== undefined && other !== worker) sendTo(other, { kind: 'serve', document })
    }
  })
  cluster.on('listening', (worker) => serving.add(worker))
  cluster.on('exit', (worker) => serving.delete(worker))

  return {
    /** Has one of the workers reload the configuration. Returns false if none serves yet. */
    reload(): boolean {
      const [worker] = serving
      if (worker === undefined) return false
      sendTo(worker, { kind: 'reload' })
      return true
    },
  }
}

async function readDocument(running: Config): Promise<{ document: unknown; issues: readonly string[] }> {
  try {
    return { document: (await readAnew(running)).document, issues: [] }
  } catch (error) {
    return { document: undefined, issues: error instanceof ConfigError ? error.issues : [messageOf(error)] }
  }
}
