import { MADE_FILE_ROUTES } from '@trunkline/sandbox/src/replies/made-files.ts'
import { plainText } from '@trunkline/sandbox/src/serving/answer.ts'
import type { Emulator, EmulatorDeps } from '@trunkline/sandbox/src/serving/emulator.ts'
import type { Routes } from '@trunkline/sandbox/src/serving/http-server.ts'
import {
  type EmulatorOptions,
  type RunningEmulator,
  startEmulator,
} from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { Front } from './front.ts'
import { Holds } from './holds.ts'
import { startLangGraph } from './langgraph-process.ts'
import { type Model, startModel } from './model.ts'
import { REJECTIONS } from './refusals.ts'
import { Upstream } from './upstream.ts'

const KEY = 'langgraph-sandbox'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** All that LangGraph serves, in the segments that a route of the sandbox can match. */
const SERVED = ['/:a', '/:a/:b', '/:a/:b/:c', '/:a/:b/:c/:d', '/:a/:b/:c/:d/:e']

/** LangGraph's server behind the sandbox's, and the model behind its graph. */
export interface RunningLangGraphAgent extends RunningEmulator {
  /** Its calls end when LangGraph gives them up. `agent.seen.waitFor` looks again at every change of theirs. */
  readonly model: Model
}

/**
 * Starts LangGraph's server. The sandbox's server in front of it receives the requests, so that tests treat it as one of the
 * emulators; what LangGraph replies is passed on unchanged.
 *
 * @example
 * ```ts
 * const { agent, close } = await startLangGraphAgent({ delayMs: 0 })
 * const info = await fetch(`${agent.baseUrl}/info`)
 * await close()
 * ```
 */
export async function startLangGraphAgent(
  options: Omit<EmulatorOptions, 'rejections'> = {},
): Promise<RunningLangGraphAgent> {
  const { delayMs = 15 } = options
  const holds = new Holds()
  let changed = () => {}
  const model = await startModel({ holds, delayMs, changed: () => changed() })
  const closing: (() => Promise<void>)[] = [model.close]
  const close = async () => {
    for (const each of closing.toReversed()) await each()
  }
  try {
    const server = await startLangGraph({ key: KEY, modelUrl: model.url })
    closing.push(server.close)
    const upstream = new Upstream(server.origin, KEY)
    const create = (deps: EmulatorDeps) => {
      changed = () => deps.seen.changed()
      return emulatorOf(new Front({ deps, upstream, model, holds, key: KEY }))
    }
    const front = await startEmulator(create, { ...options, rejections: REJECTIONS })
    closing.push(front.close)
    return { ...front, model, close }
  } catch (error) {
    await close()
    throw error
  }
}

function emulatorOf(front: Front): Emulator {
  const handle = front.handle.bind(front)
  const routes = SERVED.flatMap((path) => METHODS.map((method) => [`${method} ${path}`, handle]))
  return {
    basePath: '',
    apiKey: KEY,
    keys: { app: KEY },
    appId: 'agent',
    routes: { ...MADE_FILE_ROUTES, ...(Object.fromEntries(routes) as Routes) },
    notFound: plainText(404, '404 Not Found'),
  }
}
