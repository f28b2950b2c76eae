import type { CallMessage } from '#core/agents/adapter.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { type JsonObject, listOf, objectOf, textOf as textIn } from '#core/base/values/json.ts'
import type { EarlierCallName } from '#core/calls/request/chat-request.ts'
import { inBody, RequestProblem } from '#http/request/field-place.ts'

/** The input of a request as messages of a chat. */
export interface Input {
  readonly messages: readonly CallMessage[]
  /** The field of each message, since items and messages are not one to one. */
  readonly fields: readonly FieldPath[]
  /** The calls whose answers references to items of ours name, in their order, each once. */
  readonly referenced: readonly EarlierCallName[]
  /** The first message that only agents understand that call functions. */
  readonly firstOfFunctions: number | undefined
}

/**
 * Items of clients' histories that no agent needs: the answer that followed them says what came of them. The calls of
 * OpenAI's other tools are refused, because their results are items that no agent could be given.
 */
const SKIPPED: ReadonlySet<unknown> = new Set(['reasoning', 'web_search_call'])
/** Each of them is looked up. */
const REFERENCES_MAX = 1_000
const EXPECTED =
  'expected message, a call of a function, custom tool or local shell, the output of one, compaction or item_reference.'
const NOT_COMPACTED =
  'the gateway does not compact histories; let the client do it, in Codex by a model_provider of your own whose name is not OpenAI.'
const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])
const MESSAGE_ID = /^msg_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.\d+)?$/
const RESPONSE_ID = /^resp_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The call of a response; undefined if the id is none of ours. */
export function callOfResponse(id: string): string | undefined {
  return RESPONSE_ID.exec(id)?.[1]
}

/**
 * Reads the input in every form that clients send.
 *
 * @throws {@link RequestProblem} with the path of what cannot be honoured
 */
export function readInput(input: unknown, instructions: string | null | undefined): Input {
  const reader = new InputReader()
  if (instructions) reader.add({ role: 'system', content: instructions }, ['instructions'])
  if (typeof input === 'string') reader.add({ role: 'user', content: input }, ['input'])
  else if (Array.isArray(input))
    for (const [index, item] of input.entries()) reader.read(objectOf(item), ['input', index])
  else refuse(['input'], 'expected a string or a list of items.')
  reader.end()
  return reader
}

class InputReader implements Input {
  readonly messages: CallMessage[] = []
  readonly fields: FieldPath[] = []
  readonly #referenced = new Map<string, EarlierCallName>()
  /** The ids of the calls before, by every id by which an output may name them. */
  readonly #calls = new Map<unknown, string>()
  /** How many messages at the beginning are the instructions before the last reference. */
  #instructions = 0
  /** The tool calls of the message that the last item belongs to. */
  #openCalls: JsonObject[] | undefined
  /** The images and files of the outputs before, which follow the last of them. */
  #shown: { readonly parts: JsonObject[]; readonly field: FieldPath } | undefined

  get referenced(): readonly EarlierCallName[] {
    return [...this.#referenced.values()]
  }

  get firstOfFunctions(): number | undefined {
    const index = this.messages.findIndex(({ extra }) => extra !== undefined)
    return index === -1 ? undefined : index
  }

  add(message: CallMessage, field: FieldPath): void {
    if (message.role !== 'tool') this.end()
    this.#openCalls = undefined
    this.messages.push(message)
    this.fields.push(field)
  }

  /** Chat completions take no images and files in the messages of tools, so a message of the user shows them after the last of these. */
  end(): void {
    const shown = this.#shown
    if (shown === undefined) return
    this.#shown = undefined
    this.add({ role: 'user', content: shown.parts }, shown.field)
  }

  read(item: JsonObject, field: FieldPath): void {
    const type = isGiven(item.type) ? item.type : untypedOf(item)
    switch (type) {
      case 'message':
        this.#message(item, field)
        break
      case 'function_call':
        this.#call(item, textOf(item.arguments, [...field, 'arguments']), field)
        break
      case 'custom_tool_call':
        this.#call(item, customArguments(textOf(item.input, [...field, 'input'])), field)
        break
      case 'local_shell_call':
        this.#call(
          { name: 'local_shell', call_id: item.call_id ?? item.id },
          JSON.stringify(item.action ?? {}),
          field,
        )
        this.#calls.set(item.id, String(item.call_id ?? item.id))
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        this.#output(item, field)
        break
      case 'item_reference':
        this.#reference(item, field)
        break
      case 'compaction':
      case 'compaction_summary': {
        const summary = summaryOf(item)
        if (summary !== '') this.add({ role: 'user', content: summary }, field)
        break
      }
      default:
        if (!SKIPPED.has(type))
          refuse([...field, 'type'], type === 'compaction_trigger' ? NOT_COMPACTED : EXPECTED)
    }
  }

  #message({ role, content }: JsonObject, field: FieldPath): void {
    if (typeof role !== 'string' || !ROLES.has(role))
      refuse([...field, 'role'], 'expected user, assistant, system or developer.')
    this.add({ role, content: contentOf(content, [...field, 'content']) }, field)
  }

  #call({ call_id: callId, name }: JsonObject, text: string, field: FieldPath): void {
    const id = textOf(callId, [...field, 'call_id'])
    const call = {
      id,
      type: 'function',
      function: { name: textOf(name, [...field, 'name']), arguments: text },
    }
    this.#calls.set(id, id)
    if (this.#openCalls !== undefined) {
      this.#openCalls.push(call)
      return
    }
    const calls: JsonObject[] = [call]
    this.add({ role: 'assistant', content: null, extra: { tool_calls: calls } }, field)
    this.#openCalls = calls
  }

  #output({ id: ownId, call_id: id = ownId, output }: JsonObject, field: FieldPath): void {
    const callId = this.#calls.get(id)
    if (callId === undefined) {
      refuse(
        [...field, 'call_id'],
        'expected the call_id of a function_call before it; send the function_call too.',
      )
    }
    const { text, shown } = outputOf(output, [...field, 'output'])
    this.add({ role: 'tool', content: text, extra: { tool_call_id: callId } }, field)
    if (shown.length > 0) this.#shown = { parts: [...(this.#shown?.parts ?? []), ...shown], field }
  }

  #reference({ id }: JsonObject, field: FieldPath): void {
    const text = textOf(id, [...field, 'id'])
    // Reasoning, and the empty message beside calls of functions, are no part of what agents get.
    if (text.startsWith('rs_') || text.endsWith('.empty')) return
    const callId = MESSAGE_ID.exec(text)?.[1]
    if (callId === undefined) refuse([...field, 'id'], 'expected the id of a message of an earlier response.')
    this.#openCalls = undefined
    this.#shown = undefined
    if (this.#referenced.size >= REFERENCES_MAX)
      refuse(field, `expected references to at most ${REFERENCES_MAX} responses.`)
    this.#referenced.delete(callId)
    this.#referenced.set(callId, { callId, field: [...field, 'id'] })
    // What precedes it is part of the conversation that the reference leads to.
    for (const message of this.messages.splice(this.#instructions)) {
      if (isInstruction(message)) this.messages.push(message)
    }
    this.fields.length = this.#instructions
    while (this.fields.length < this.messages.length) this.fields.push(['input'])
    this.#instructions = this.messages.length
  }
}

/** Both messages and references may omit their type. */
function untypedOf({ role, id }: JsonObject): string {
  return !isGiven(role) && isGiven(id) ? 'item_reference' : 'message'
}

function isInstruction({ role }: CallMessage): boolean {
  return role === 'system' || role === 'developer'
}

function contentOf(content: unknown, field: FieldPath): unknown {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) return refuse(field, 'expected a string or a list of parts.')
  return content.map((part, index) => partOf(objectOf(part), [...field, index]))
}

function partOf(part: JsonObject, field: FieldPath, allowed?: ReadonlySet<unknown>): JsonObject {
  if (allowed?.has(part.type) === false)
    refuse([...field, 'type'], `expected ${[...allowed].join(', ').replace(/, (?=[a-z_]+$)/, ' or ')}.`)
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textOf(part.text, [...field, 'text']) }
    case 'refusal':
      return { type: 'refusal', refusal: textOf(part.refusal, [...field, 'refusal']) }
    case 'input_image': {
      refuseFileId(part, field)
      const { detail } = part
      const url = textOf(part.image_url, [...field, 'image_url'])
      return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } }
    }
    case 'input_file':
      return filePart(part, field)
    default:
      return refuse(
        [...field, 'type'],
        'expected input_text, output_text, input_image, input_file or refusal.',
      )
  }
}

function filePart(part: JsonObject, field: FieldPath): JsonObject {
  refuseFileId(part, field)
  const { filename, file_url: url, file_data: data } = part
  const name = typeof filename === 'string' ? { filename } : {}
  if (isGiven(data))
    return { type: 'file', file: { ...name, file_data: textOf(data, [...field, 'file_data']) } }
  return { type: 'file', file: { ...name, file_url: textOf(url, [...field, 'file_url']) } }
}

function refuseFileId({ file_id: id }: JsonObject, field: FieldPath): void {
  if (isGiven(id)) {
    refuse([...field, 'file_id'], 'is not supported; expected a URL, such as one of POST /api/v1/upload.')
  }
}

/** An output as a text, and its images and files. One that has nothing else says that they follow. */
function outputOf(output: unknown, field: FieldPath): { text: string; shown: readonly JsonObject[] } {
  if (typeof output === 'string') return { text: output, shown: [] }
  if (!Array.isArray(output)) return refuse(field, 'expected a string or a list of parts.')
  const parts = output.map((part, index) => partOf(objectOf(part), [...field, index], OUTPUT_PARTS))
  const texts = parts.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []))
  const shown = parts.filter(({ type }) => type !== 'text')
  const hasImage = shown.some(({ type }) => type === 'image_url')
  if (texts.length === 0 && shown.length > 0) texts.push(hasImage ? '[image]' : '[file]')
  return { text: texts.join('\n'), shown }
}

const OUTPUT_PARTS: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'input_image', 'input_file'])

/** What another server has made of a history, where it says it in words. */
function summaryOf({ text, summary, content }: JsonObject): string {
  const given = [text, summary, content].find(isGiven)
  if (typeof given === 'string') return given
  return listOf(given)
    .flatMap((part) => (typeof part === 'string' ? part : (textIn(objectOf(part).text) ?? [])))
    .join('\n')
}

/** The arguments of a function that stands for a custom tool, whose input is any text. */
function customArguments(input: string): string {
  return JSON.stringify({ input })
}

function textOf(value: unknown, field: FieldPath): string {
  return typeof value === 'string' ? value : refuse(field, 'expected a string.')
}

/** Clients send null and empty strings for what they leave out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function refuse(field: FieldPath, detail: string): never {
  throw new RequestProblem(inBody(...field), detail)
}
