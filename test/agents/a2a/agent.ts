import type { IncomingMessage, ServerResponse } from 'node:http'
import { agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express'
import { MADE_FILE_ROUTES } from '@trunkline/sandbox/src/replies/made-files.ts'
import { type Answer, json, Refusal } from '@trunkline/sandbox/src/serving/answer.ts'
import type { Emulator, EmulatorDeps } from '@trunkline/sandbox/src/serving/emulator.ts'
import type { RequestContext, Routes } from '@trunkline/sandbox/src/serving/http-server.ts'
import type { JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import {
  type EmulatorOptions,
  type RunningEmulator,
  startEmulator,
} from '@trunkline/sandbox/src/serving/start-emulator.ts'
import express from 'express'
import { readCaller } from './caller.ts'
import { cardAt, originOf } from './card.ts'
import { SandboxExecutor } from './executor.ts'
import { playProxyFault, proxyFaultOf } from './proxy.ts'
import { readCommands } from './question.ts'
import { httpRefusal, REJECTIONS, UNAUTHORIZED } from './refusals.ts'
import { SandboxRequestHandler } from './request-handler.ts'
import { StoredTurns } from './stored-turns.ts'
import { readWireRequest } from './wire-request.ts'

const KEY = 'a2a-sandbox'
const CARD = '/.well-known/agent-card.json'
/** All that the SDK serves below these paths, in the segments that a route of the sandbox can match. */
const SERVED = ['/rpc', '/rest/:a', '/rest/:a/:b', '/rest/:a/:b/:c', CARD] as const

/**
 * Starts the agent. Its protocol is the SDK's own; the sandbox's server receives the requests, so that tests treat it as one of
 * the emulators.
 *
 * @example
 * ```ts
 * const { agent, close } = await startA2aAgent({ delayMs: 0 })
 * const card = await fetch(`${agent.baseUrl}/.well-known/agent-card.json`)
 * await close()
 * ```
 */
export function startA2aAgent(options: Omit<EmulatorOptions, 'rejections'> = {}): Promise<RunningEmulator> {
  return startEmulator(a2aAgent, { ...options, rejections: REJECTIONS })
}

function a2aAgent(deps: EmulatorDeps): Emulator {
  const turns = new StoredTurns(deps.runs)
  const executor = new SandboxExecutor(deps, turns)
  const serve = sdkApp(new SandboxRequestHandler(executor, turns))

  async function handle(context: RequestContext): Promise<Answer | undefined> {
    const { path, headers, body, response } = context
    if (path !== CARD && headers.authorization !== `Bearer ${KEY}`) throw new Refusal(UNAUTHORIZED)
    const request = readWireRequest(path, body)
    const { kind, query, taskId } = request
    if (kind === 'cancel') deps.seen.stop({ runId: executor.runOf(taskId)?.id, path, body })
    if (kind === 'send' || kind === 'stream') {
      const refusal = httpRefusal(readCommands(query).faults.error)
      if (refusal !== undefined) return refusal
      const fault = proxyFaultOf(query)
      if (fault !== undefined) return playProxyFault(fault, request, turns, response)
    }
    serve(response, body)
    return undefined
  }

  const routes = SERVED.flatMap((path) => [`GET ${path}`, `POST ${path}`].map((route) => [route, handle]))
  return {
    basePath: '',
    apiKey: KEY,
    keys: { app: KEY },
    routes: { ...MADE_FILE_ROUTES, ...(Object.fromEntries(routes) as Routes) },
    notFound: json(404, { error: { message: 'Not Found' } }),
  }
}

/** The SDK behind express, for requests whose body has been read. */
function sdkApp(requestHandler: SandboxRequestHandler) {
  const legacyCompat = { enabled: true }
  const options = { requestHandler, userBuilder: readCaller, legacyCompat }
  const app = express()
  app.use('/rpc', jsonRpcHandler(options))
  app.use('/rest', restHandler(options))
  app.use(CARD, (request, response, next) => {
    const agentCardProvider = async () => cardAt(originOf(request.headers))
    return agentCardHandler({ agentCardProvider, legacyCompat })(request, response, next)
  })
  return (response: ServerResponse, body: JsonRecord) => {
    const request: IncomingMessage & { body?: JsonRecord } = response.req
    request.body = body
    app(request, response)
  }
}
