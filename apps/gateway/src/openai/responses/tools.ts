import { type JsonObject, objectOf } from '#core/base/values/json.ts'
import { inBody, RequestProblem } from '#http/request/field-place.ts'
import type { ResponseRequest } from './schemas.ts'

/** The tools of a request. */
export interface Tools {
  /** As OpenAI's responses repeat them: functions alone. */
  readonly honoured: readonly JsonObject[]
  /** As chat completions take them; empty if there are none. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The kinds of the tools that were left out. */
  readonly dropped: readonly string[]
}

/**
 * Clients send the tools that OpenAI runs itself also where nothing asks for them, so they are left out.
 *
 * @throws {@link RequestProblem} if the choice of a tool asks for one of those
 */
export function readTools({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: ResponseRequest): Tools {
  const all = (tools ?? []).map(objectOf)
  for (const [index, { type, name }] of all.entries()) {
    if (typeof type !== 'string' || type === '')
      throw new RequestProblem(inBody('tools', index, 'type'), 'expected a kind of tool, such as function.')
    if (type === 'function' && (typeof name !== 'string' || name === ''))
      throw new RequestProblem(inBody('tools', index, 'name'), 'expected the name of the function.')
  }
  const functions = all.filter(({ type }) => type === 'function')
  const dropped = all.flatMap(({ type }) => (type === 'function' ? [] : String(type)))
  const names = new Set(functions.map(({ name }) => name))
  requireChoice(choice, names)
  if (functions.length === 0) return { honoured: [], parameters: {}, dropped }
  return {
    dropped,
    honoured: functions.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      name,
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
    })),
    parameters: {
      tools: functions.map(({ type, ...definition }) => ({ type, function: withoutNulls(definition) })),
      ...(choice !== undefined && choice !== null && { tool_choice: choiceOf(choice) }),
      ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
    },
  }
}

/** What the response repeats of the choice. */
export function honouredChoice(choice: unknown, { honoured }: Tools): unknown {
  return honoured.length > 0 && choice !== null && choice !== undefined ? choice : 'auto'
}

function requireChoice(choice: unknown, names: ReadonlySet<unknown>): void {
  const refuse = (expected: string) => {
    throw new RequestProblem(inBody('tool_choice'), `expected ${expected}.`)
  }
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return
  if (choice === 'required') {
    if (names.size === 0) refuse('auto or none, since there is no function to call')
    return
  }
  const { type, name, tools } = objectOf(choice)
  if (type === 'function' && names.has(name)) return
  const allowed = Array.isArray(tools) ? tools.map(objectOf) : []
  const areKnown = allowed.every((tool) => tool.type === 'function' && names.has(tool.name))
  if (type === 'allowed_tools' && allowed.length > 0 && areKnown) return
  refuse('auto, none, required or a function of the list tools')
}

function choiceOf(choice: unknown): unknown {
  if (typeof choice === 'string') return choice
  const { type, name, mode, tools } = objectOf(choice)
  if (type === 'function') return { type, function: { name } }
  const allowed = (tools as JsonObject[]).map((tool) => ({ type: 'function', function: { name: tool.name } }))
  return { type, allowed_tools: { mode: mode ?? 'auto', tools: allowed } }
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
