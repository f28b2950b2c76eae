import { type JsonObject, objectOf } from '#core/base/values/json.ts'
import { inBody, RequestProblem } from '#http/request/field-place.ts'
import type { ResponseRequest } from './schemas.ts'

/** The tools of a request. */
export interface Tools {
  /** As OpenAI's responses repeat them: functions and custom tools alone. */
  readonly honoured: readonly JsonObject[]
  /** The names of the custom tools. */
  readonly customs: ReadonlySet<unknown>
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
    if (isCallable(type) && (typeof name !== 'string' || name === ''))
      throw new RequestProblem(inBody('tools', index, 'name'), 'expected the name of the function.')
  }
  const callable = all.filter(({ type }) => isCallable(type))
  const dropped = all.flatMap(({ type }) => (isCallable(type) ? [] : String(type)))
  const customs = new Set(callable.flatMap(({ type, name }) => (type === 'custom' ? [name] : [])))
  requireChoice(choice, new Set(callable.map(({ name }) => name)))
  if (callable.length === 0) return { honoured: [], customs, parameters: {}, dropped }
  return {
    dropped,
    customs,
    honoured: callable.map((tool) => (tool.type === 'custom' ? withoutNulls(tool) : honouredFunction(tool))),
    parameters: {
      tools: callable.map(({ type, ...definition }) => ({
        type: 'function',
        function: withoutNulls(type === 'custom' ? customFunction(definition) : definition),
      })),
      ...(choice !== undefined && choice !== null && { tool_choice: choiceOf(choice) }),
      ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
    },
  }
}

function isCallable(type: unknown): boolean {
  return type === 'function' || type === 'custom'
}

function honouredFunction({ name, description, parameters, strict }: JsonObject): JsonObject {
  return {
    type: 'function',
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? null,
  }
}

/** Chat completions know functions alone, so a custom tool is one whose only argument is its text. */
function customFunction({ name, description, format }: JsonObject): JsonObject {
  const { definition } = objectOf(format)
  const texts = [description, definition].filter((text) => typeof text === 'string' && text !== '')
  return {
    name,
    description: texts.length === 0 ? null : texts.join('\n\nThe input has this grammar:\n\n'),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
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
  if (isCallable(type) && names.has(name)) return
  const allowed = Array.isArray(tools) ? tools.map(objectOf) : []
  const areKnown = allowed.every((tool) => isCallable(tool.type) && names.has(tool.name))
  if (type === 'allowed_tools' && allowed.length > 0 && areKnown) return
  refuse('auto, none, required or a function of the list tools')
}

function choiceOf(choice: unknown): unknown {
  if (typeof choice === 'string') return choice
  const { type, name, mode, tools } = objectOf(choice)
  if (isCallable(type)) return { type: 'function', function: { name } }
  const allowed = (tools as JsonObject[]).map((tool) => ({ type: 'function', function: { name: tool.name } }))
  return { type, allowed_tools: { mode: mode ?? 'auto', tools: allowed } }
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
