import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asRecord, asText } from '@trunkline/sandbox/src/serving/narrow.ts'

/** LangGraph's server in its own process. */
export interface LangGraphProcess {
  readonly origin: string
  readonly pid: number | undefined
  /** Ends it at once, and removes its state and its log. */
  close(): Promise<void>
}

export interface LangGraphOptions {
  /** The key that it accepts. */
  readonly key: string
  /** Where the model of its graph is. */
  readonly modelUrl: string
}

/** Starts the server with a folder of its own, and waits until it takes requests. */
export async function startLangGraph({ key, modelUrl }: LangGraphOptions): Promise<LangGraphProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'langgraph-'))
  const logPath = join(folder, 'server.log')
  const log = await open(logPath, 'w')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'server.ts')], {
    cwd: folder,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    // Nothing else, so that no variable of the machine makes it report its runs to anybody.
    env: {
      PATH: process.env.PATH,
      LOG_JSON: 'true',
      LOG_LEVEL: 'warn',
      SANDBOX_KEY: key,
      SANDBOX_MODEL: modelUrl,
    },
  })
  await log.close()
  const ended = once(child, 'exit')
  const close = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const [message] = await Promise.race([once(child, 'message'), ended])
  const origin = asText(asRecord(message).origin)
  if (origin !== '') return { origin, pid: child.pid, close }
  const said = await readFile(logPath, 'utf8')
  await close()
  throw new Error(`LangGraph's server has not started: ${said}`)
}
