import type { CallMessage } from '#core/agents/adapter.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { type JsonObject, objectOf } from '#core/base/values/json.ts'
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
  return reader
}

class InputReader implements Input {
  readonly messages: CallMessage[] = []
  readonly fields: FieldPath[] = []
  readonly #referenced = new Map<string, EarlierCallName>()
  readonly #calls = new Set<unknown>()
  /** How many messages at the beginning are the instructions before the last reference. */
  #instructions = 0
  /** The tool calls of the message that the last item belongs to. */
  #openCalls: JsonObject[] | undefined

  get referenced(): readonly EarlierCallName[] {
    return [...this.#referenced.values()]
  }

  get firstOfFunctions(): number | undefined {
    const index = this.messages.findIndex(({ extra }) => extra !== undefined)
    return index === -1 ? undefined : index
  }

  add(message: CallMessage, field: FieldPath): void {
    this.#openCalls = undefined
    this.messages.push(message)
    this.fields.push(field)
  }

  read(item: JsonObject, field: FieldPath): void {
    const type = isGiven(item.type) ? item.type : untypedOf(item)
    if (type === 'message') this.#message(item, field)
    else if (type === 'function_call') this.#call(item, field)
    else if (type === 'function_call_output') this.#output(item, field)
    else if (type === 'item_reference') this.#reference(item, field)
    else if (!SKIPPED.has(type)) {
      refuse([...field, 'type'], 'expected message, function_call, function_call_output or item_reference.')
    }
  }

  #message({ role, content }: JsonObject, field: FieldPath): void {
    if (typeof role !== 'string' || !ROLES.has(role))
      refuse([...field, 'role'], 'expected user, assistant, system or developer.')
    this.add({ role, content: contentOf(content, [...field, 'content']) }, field)
  }

  #call({ call_id: id, name, arguments: text }: JsonObject, field: FieldPath): void {
    const call = {
      id: textOf(id, [...field, 'call_id']),
      type: 'function',
      function: { name: textOf(name, [...field, 'name']), arguments: textOf(text, [...field, 'arguments']) },
    }
    this.#calls.add(id)
    if (this.#openCalls !== undefined) {
      this.#openCalls.push(call)
      return
    }
    const calls: JsonObject[] = [call]
    this.add({ role: 'assistant', content: null, extra: { tool_calls: calls } }, field)
    this.#openCalls = calls
  }

  #output({ call_id: id, output }: JsonObject, field: FieldPath): void {
    if (!this.#calls.has(id)) {
      refuse(
        [...field, 'call_id'],
        'expected the call_id of a function_call before it; send the function_call too.',
      )
    }
    const content = typeof output === 'string' ? output : textsOf(output, [...field, 'output'])
    this.add({ role: 'tool', content, extra: { tool_call_id: id } }, field)
  }

  #reference({ id }: JsonObject, field: FieldPath): void {
    const text = textOf(id, [...field, 'id'])
    // Reasoning, and the empty message beside calls of functions, are no part of what agents get.
    if (text.startsWith('rs_') || text.endsWith('.empty')) return
    const callId = MESSAGE_ID.exec(text)?.[1]
    if (callId === undefined) refuse([...field, 'id'], 'expected the id of a message of an earlier response.')
    this.#openCalls = undefined
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

function partOf(part: JsonObject, field: FieldPath): JsonObject {
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

/** The texts of an output in parts, joined. */
function textsOf(output: unknown, field: FieldPath): string {
  if (!Array.isArray(output)) return refuse(field, 'expected a string or a list of parts.')
  return output
    .map((part, index) => {
      const { type, text } = objectOf(part)
      if (type !== 'input_text' && type !== 'output_text')
        refuse([...field, index, 'type'], 'expected input_text.')
      return textOf(text, [...field, index, 'text'])
    })
    .join('\n')
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
