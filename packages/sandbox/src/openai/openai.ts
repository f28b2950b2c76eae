import { randomBytes } from 'node:crypto'
import { composeReply } from '../replies/compose-reply.ts'
import { parseFaults } from '../replies/faults.ts'
import { splitFragments } from '../replies/fragments.ts'
import { MADE_FILE_ROUTES, madeFiles } from '../replies/made-files.ts'
import { play } from '../replies/player.ts'
import { json, Refusal } from '../serving/answer.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { type LinkedFile, listFiles } from '../serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { invalidRequest, modelNotFound, type OpenAiFlavour, openAiErrors, openAiRefusal } from './errors.ts'
import { readFormat } from './response-format.ts'
import { sampleValue } from './sample-value.ts'
import { openAiScript } from './script.ts'

const KEY = 'sk-sandbox'
const REAL = { name: 'OpenAI', platform: 'openai', baseUrl: 'https://api.openai.com/v1' }

// The model selects the server whose quirks are emulated.
const MODELS: Readonly<Record<string, OpenAiFlavour>> = {
  sandbox: 'openai',
  'sandbox-vllm': 'vllm',
  'sandbox-ollama': 'ollama',
}

/** Emulates an OpenAI-compatible server, which keeps no context between requests. */
export function openai(deps: EmulatorDeps): Emulator {
  async function complete(context: RequestContext): Promise<void> {
    const { headers, body, response } = context
    checkKey(headers.authorization)
    const model = asText(body.model)
    const flavour = MODELS[model]
    if (!flavour) throw new Refusal(openAiRefusal('openai', modelNotFound(model)))
    const { query, files, earlier, toolResult } = readMessages(flavour, body.messages)
    const faults = parseFaults(query, 'OpenAI')
    if (faults.error) throw new Refusal(openAiRefusal(flavour, openAiErrors[faults.error]))

    const lines = await listFiles(files, response)
    const format = readFormat(flavour, body.response_format)
    const made = madeFiles(faults, context)
    const reply = composeReply({ real: REAL, faults, earlier, files: lines, isSilent: made.isAlone })
    // The client wants this very text, or learns what the emulator does not know.
    const isLiteral = faults.echo !== undefined || faults.unknown !== undefined
    const wantsTool = toolResult === undefined && /use the tool|使用工具|调用工具/i.test(query)
    const tool = wantsTool && !isLiteral ? chooseTool(body) : undefined
    const answer = [...splitFragments(toolResult ?? ''), ...reply.fragments]
    const formatted = format && !isLiteral ? splitFragments(format(answer.join(''))) : answer
    const id = `chatcmpl-${randomBytes(12).toString('hex')}`
    return play(response, {
      run: deps.runs.begin({ id, conversationId: '', query }),
      script: openAiScript({
        id,
        model,
        flavour,
        createdAt: Math.floor(Date.now() / 1_000),
        promptTokens: reply.promptTokens,
        finish: reply.finish,
        made,
        includeUsage: asRecord(body.stream_options).include_usage === true,
        tool: tool && { id: `call_${randomBytes(8).toString('hex')}`, name: tool.name },
      }),
      fragments: tool ? splitFragments(tool.arguments) : formatted,
      faults,
      stream: body.stream === true,
      serverError: openAiRefusal(flavour, openAiErrors.server),
      delayMs: deps.delayMs,
      endsWithClient: true,
    })
  }

  return {
    basePath: '/v1',
    apiKey: KEY,
    keys: { app: KEY },
    appId: 'sandbox',
    options: { model: 'sandbox' },
    routes: {
      ...MADE_FILE_ROUTES,
      'POST /v1/chat/completions': complete,
      'GET /v1/models': ({ headers }) => {
        checkKey(headers.authorization)
        return json(200, { object: 'list', data: Object.keys(MODELS).map(modelObject) })
      },
      'GET /v1/models/:model': ({ headers, params }) => {
        checkKey(headers.authorization)
        const model = decodeURIComponent(params.model ?? '')
        return MODELS[model] ? json(200, modelObject(model)) : openAiRefusal('openai', modelNotFound(model))
      },
    },
    notFound: openAiRefusal('openai', openAiErrors['not-found']),
  }
}

function checkKey(authorization: string | undefined): void {
  if (authorization !== `Bearer ${KEY}`) throw new Refusal(openAiRefusal('openai', openAiErrors.credentials))
}

function modelObject(id: string) {
  return { id, object: 'model', created: 1_718_609_571, owned_by: 'trunkline-sandbox' }
}

interface Conversation {
  readonly query: string
  readonly files: readonly LinkedFile[]
  readonly earlier: readonly string[]
  /** The beginning of the reply if the last message is a tool's result. */
  readonly toolResult: string | undefined
}

function readMessages(flavour: OpenAiFlavour, value: unknown): Conversation {
  const messages = asList(value).map(asRecord)
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => readContent(content))
  const last = questions.at(-1)
  if (!last)
    throw new Refusal(openAiRefusal(flavour, invalidRequest("Missing required parameter: 'messages'.")))
  const final = messages.at(-1)
  return {
    ...last,
    earlier: questions.slice(0, -1).map(({ query }) => query),
    toolResult:
      final?.role === 'tool' ? `The tool answered: ${readContent(final.content).query}\n\n` : undefined,
  }
}

function readContent(content: unknown): { query: string; files: readonly LinkedFile[] } {
  if (typeof content === 'string') return { query: content, files: [] }
  const parts = asList(content).map(asRecord)
  return {
    query: parts.map(({ text }) => asText(text)).join(''),
    files: parts.flatMap(linkedFile),
  }
}

function linkedFile({ image_url, file }: JsonRecord): readonly LinkedFile[] {
  if (image_url) return [{ url: asText(asRecord(image_url).url), name: '', mayBeData: true }]
  if (!file) return []
  const { filename, file_data, file_id } = asRecord(file)
  return [{ url: asText(file_data), name: asText(filename) || asText(file_id), mayBeData: true }]
}

/**
 * Calls the tool that `tool_choice` names, or else the first, with sample arguments that match its schema.
 */
function chooseTool({ tools, tool_choice }: JsonRecord): { name: string; arguments: string } | undefined {
  const offered = asList(tools).map((tool) => asRecord(asRecord(tool).function))
  const wanted = asRecord(asRecord(tool_choice).function).name
  const chosen = offered.find(({ name }) => name === wanted) ?? offered[0]
  if (!chosen || tool_choice === 'none') return undefined
  const schema = { type: 'object', ...asRecord(chosen.parameters) }
  return { name: asText(chosen.name), arguments: JSON.stringify(sampleValue(schema)) }
}
