import type { FieldPath } from '#core/base/values/field-path.ts'
import { isObject, type JsonObject, objectOf } from '#core/base/values/json.ts'
import type { EarlierCallName, RequestedTools } from '#core/calls/request/chat-request.ts'
import { inBody, RequestProblem } from '#http/request/field-place.ts'
import { callOfResponse, type Input, isGiven, readInput } from './input.ts'
import type { ResponseRequest } from './schemas.ts'
import { readTools, type Tools } from './tools.ts'

/** A request of the Responses API, read. */
export interface ReadRequest {
  readonly input: Input
  readonly tools: Tools
  /** The form of the answer, as the Responses API names it. */
  readonly format: JsonObject
  /** What `openai` agents get of the parameters, by the names of chat completions. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The functions, which only `openai` agents can call. */
  readonly functions: RequestedTools
  /** What else only `openai` agents honour, by core's names of the fields. */
  readonly unsupported: readonly FieldPath[]
  /** The earlier calls that the request names; it continues the last of them. */
  readonly continued: readonly EarlierCallName[]
  /** Whether the run's progress is sent. */
  readonly details: boolean
}

/** Clients send null and empty texts for what they leave out, also where those would not be valid. */
export function withoutEmpty(body: unknown): unknown {
  if (!isObject(body)) return body
  const isRequired = (name: string) => name === 'model' || name === 'input'
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => isRequired(name) || isGiven(value)),
  )
}

/**
 * Reads the whole body except agent, app and end user.
 *
 * @throws {@link RequestProblem} with the field that cannot be honoured
 */
export function readRequest(body: ResponseRequest): ReadRequest {
  refuseUnserved(body)
  const input = readInput(body.input, body.instructions)
  const tools = readTools(body)
  const format = formatOf(body)
  return {
    input,
    tools,
    format,
    parameters: {
      ...samplingOf(body),
      ...tools.parameters,
      ...responseFormat(format),
    },
    functions: functionsOf(tools, body.tool_choice),
    unsupported: [
      ...(format.type === 'text' ? [] : [['text']]),
      ...(input.firstOfFunctions === undefined ? [] : [['messages', input.firstOfFunctions]]),
    ],
    continued: continuedOf(body, input),
    details: body.include?.includes('trunkline.detail') === true,
  }
}

function functionsOf({ honoured }: Tools, choice: unknown): RequestedTools {
  if (honoured.length === 0 || choice === 'none') return { fields: [], kinds: [], forcedBy: undefined }
  const isForced = choice === 'required' || (isObject(choice) && choice.mode !== 'auto')
  return { fields: [['tools']], kinds: ['function'], forcedBy: isForced ? ['tool_choice'] : undefined }
}

function refuseUnserved(body: ResponseRequest): void {
  if (body.background === true)
    refuse(['background'], 'expected false; responses do not run in the background.')
  if (isGiven((body as Record<string, unknown>).prompt)) {
    refuse(['prompt'], 'expected it to be left out; the gateway stores no prompts.')
  }
  if (isGiven(body.previous_response_id) && idOf(body.conversation) !== '') {
    refuse(['previous_response_id'], 'expected it to be left out where conversation is given.')
  }
}

/**
 * The conversation that a request names, by the header or in the body; empty if it names none.
 *
 * @throws {@link RequestProblem} if it names two
 */
export function conversationOf({ conversation, metadata }: ResponseRequest, header: string): string {
  const named = [
    [['conversation'], idOf(conversation)],
    [['metadata', 'conversation_id'], metadata?.conversation_id ?? ''],
  ] as const
  let id = header
  for (const [field, other] of named) {
    if (other !== '' && id !== '' && other !== id)
      refuse(field, 'expected one conversation; the request names two.')
    if (id === '') id = other
  }
  return id
}

function idOf(conversation: unknown): string {
  if (!isGiven(conversation)) return ''
  const id = typeof conversation === 'string' ? conversation : objectOf(conversation).id
  // An id that is left out as clients leave out fields, not an object that is of another kind.
  if (isObject(conversation) && 'id' in conversation && !isGiven(id)) return ''
  return typeof id === 'string'
    ? id
    : refuse(['conversation'], 'expected a string, or an object with the string id.')
}

function continuedOf(
  { previous_response_id: id }: ResponseRequest,
  { referenced }: Input,
): readonly EarlierCallName[] {
  if (!isGiven(id)) return referenced
  const callId = callOfResponse(id ?? '')
  // An id of another server, and one that no call can have, are both unknown.
  return [...referenced, { callId: callId ?? NO_CALL, field: ['previousResponseId'] }]
}

const NO_CALL = '00000000-0000-0000-0000-000000000000'

function samplingOf(body: ResponseRequest): Record<string, unknown> {
  const { temperature, top_p, max_output_tokens: max, reasoning, text, include, top_logprobs: top } = body
  const logprobs = include?.includes('message.output_text.logprobs') === true || (top ?? 0) > 0
  const { effort } = objectOf(reasoning)
  const verbosity = objectOf(text).verbosity
  return {
    ...(isGiven(temperature) && { temperature }),
    ...(isGiven(top_p) && { top_p }),
    ...(isGiven(max) && { max_tokens: max }),
    ...(isGiven(effort) && { reasoning_effort: effort }),
    ...(isGiven(verbosity) && { verbosity }),
    ...(logprobs && { logprobs, ...(isGiven(top) && { top_logprobs: top }) }),
  }
}

/** The form of the answer, of what is known of it. */
function formatOf({ text }: ResponseRequest): JsonObject {
  const { type, name, description, schema, strict } = objectOf(text?.format)
  if (!isGiven(type) || type === 'text') return { type: 'text' }
  if (type === 'json_object') return { type }
  if (type !== 'json_schema')
    return refuse(['text', 'format', 'type'], 'expected text, json_object or json_schema.')
  return {
    type,
    name,
    ...(isGiven(description) && { description }),
    schema,
    ...(isGiven(strict) && { strict }),
  }
}

/** The same as chat completions name it; nothing for plain text. */
function responseFormat({ type, ...schema }: JsonObject): JsonObject {
  if (type === 'text') return {}
  return { response_format: type === 'json_schema' ? { type, json_schema: schema } : { type } }
}

function refuse(field: FieldPath, detail: string): never {
  throw new RequestProblem(inBody(...field), detail)
}
