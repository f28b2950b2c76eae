import type { Pause, PauseAnswer, PauseField, PauseOption } from '#core/agents/pause.ts'
import { formOfSchema } from '#core/agents/translate/form-of-schema.ts'
import { idOf } from '#core/agents/translate/platform-id.ts'
import { isEmpty } from '#core/agents/translate/replies/message-shape.ts'
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parseJson,
  textOf,
  toJson,
} from '#core/base/values/json.ts'

/** Under these names graphs say what they ask, and what can be chosen. There is no standard: the value is the author's. */
const QUESTIONS = ['question', 'message', 'prompt', 'text', 'query', 'description', 'title', 'instructions']
const CHOICES = ['options', 'choices', 'actions', 'buttons']
const SCHEMAS = ['schema', 'response_schema', 'resume_schema', 'form']

/** The decisions of LangChain's middleware that need nothing but themselves. */
const DECISIONS: readonly unknown[] = ['approve', 'reject']

/** The run waits at a point that the graph was made with, and goes on without an answer. */
export const BREAKPOINT: Pause = {
  question: 'The run waits at a breakpoint.',
  options: [{ id: 'continue', title: 'continue' }],
  fields: [],
  takesText: false,
  resume: { isBreakpoint: true },
}

/** Where a graph has said nothing. */
const NO_QUESTION = 'The agent waits for an answer.'

/** What waits under one id. Tools that a node calls side by side interrupt it several times, and one answer is for all of them. */
export interface Interrupt {
  readonly id: string | undefined
  /** Whatever the graph has given. */
  readonly values: readonly unknown[]
}

export function interruptsById(interrupts: readonly unknown[]): readonly Interrupt[] {
  const found: { id: string | undefined; values: unknown[] }[] = []
  for (const each of interrupts) {
    const { id, interrupt_id, value } = objectOf(each)
    const known = idOf(id) ?? idOf(interrupt_id)
    const same = known === undefined ? undefined : found.find((other) => other.id === known)
    if (same === undefined) found.push({ id: known, values: [value] })
    else same.values.push(value)
  }
  return found
}

/** The question of what waits under one id: all texts, and the options that each of them has. */
export function pauseOf({ id, values }: Interrupt): Pause {
  const asked = values.map((value) => reviewOf(value, id) ?? inboxOf(value, id) ?? questionOf(value, id))
  const [first, ...others] = asked
  if (first === undefined) return questionOf(undefined, id)
  if (others.length === 0) return first
  const isCommon = (option: PauseOption) =>
    others.every(({ options }) => options.some((other) => other.id === option.id))
  const chosen = first.options
    .map((option, index) => ({ option, index }))
    .filter(({ option }) => isCommon(option))
  const { values: own, ...resume } = objectOf(first.resume)
  return {
    ...first,
    question: asked.map(({ question }) => question).join('\n\n'),
    options: chosen.map(({ option }) => option),
    fields: asked.flatMap(({ fields }) => fields).filter(isFirstOfName),
    takesText: asked.some(({ takesText }) => takesText),
    resume: { ...resume, values: chosen.map(({ index }) => listOf(own)[index]) },
  }
}

function isFirstOfName({ name }: PauseField, index: number, fields: readonly PauseField[]): boolean {
  return fields.findIndex((field) => field.name === name) === index
}

function questionOf(value: unknown, id: string | undefined): Pause {
  const asked = objectOf(value)
  const choices = CHOICES.map((name) => asked[name]).find((each) => listOf(each).length > 0)
  const offered = listOf(choices).map(optionOf)
  const options = offered.filter(({ option: { id: key } }) => key !== '')
  const schema = SCHEMAS.map((name) => asked[name]).find((each) => each !== undefined)
  const fields = formOfSchema(schema)
  const said = QUESTIONS.map((name) => textOf(asked[name])).find((each) => each !== undefined)
  const shown = typeof value === 'string' ? value : (said ?? (isEmpty(value) ? '' : toJson(value)) ?? '')
  return {
    question: value === undefined || value === null ? NO_QUESTION : shown,
    options: options.map(({ option }) => option),
    fields,
    takesText: fields.length === 0,
    resume: { id, values: options.map(({ value: chosen }) => chosen) },
  }
}

/** What is sent for an option is the value that the graph has given. */
function optionOf(value: unknown): { readonly option: PauseOption; readonly value: unknown } {
  const { id, value: own, label, title, name } = objectOf(value)
  const key = [id, own, name, value].find((each) => typeof each === 'string' || typeof each === 'number')
  const shown = [label, title, name, key].find((each) => typeof each === 'string' || typeof each === 'number')
  const text = String(key ?? toJson(value) ?? '')
  return {
    option: { id: text, title: String(shown ?? text) },
    value: isObject(value) ? (own ?? id ?? value) : value,
  }
}

/** The review of tool calls that LangChain's middleware asks for, in Python or JavaScript: one decision for all of them. */
function reviewOf(value: unknown, id: string | undefined): Pause | undefined {
  const { action_requests, actionRequests, review_configs, reviewConfigs } = objectOf(value)
  const actions = listOf(action_requests ?? actionRequests).map(objectOf)
  if (actions.length === 0) return undefined
  const allowed = listOf(review_configs ?? reviewConfigs).map((each) => {
    const { allowed_decisions, allowedDecisions } = objectOf(each)
    return listOf(allowed_decisions ?? allowedDecisions)
  })
  const decisions = DECISIONS.filter((each) =>
    allowed.every((list) => list.length === 0 || list.includes(each)),
  )
  const options = decisions.map((each) => ({ id: String(each), title: String(each) }))
  return {
    question: actions.map(actionText).join('\n\n'),
    options,
    fields: [],
    takesText: false,
    resume: { id, reviews: actions.length },
  }
}

/** The permissions of the older form of reviews, and the word with which an answer uses each. */
const INBOX_OPTIONS = [
  ['allow_accept', 'accept'],
  ['allow_ignore', 'ignore'],
] as const

/** The older form of reviews, as LangChain's Agent Inbox reads it: a list of requests, of which each has one reply. */
function inboxOf(value: unknown, id: string | undefined): Pause | undefined {
  const requests = (Array.isArray(value) ? value : [value]).map(objectOf)
  if (requests.length === 0 || !requests.every(({ action_request }) => isObject(action_request)))
    return undefined
  const configs = requests.map(({ config }) => objectOf(config))
  const words = INBOX_OPTIONS.filter(([allowed]) => configs.every((config) => config[allowed] === true))
  return {
    question: requests.map(inboxText).join('\n\n'),
    options: words.map(([, word]) => ({ id: word, title: word })),
    fields: [],
    takesText: configs.every(({ allow_respond }) => allow_respond === true),
    resume: { id, requests: requests.length },
  }
}

function inboxText({ action_request, description }: JsonObject): string {
  const { action, args } = objectOf(action_request)
  return textOf(description) ?? actionText({ name: action, args })
}

function actionText({ name, args, arguments: given, description }: JsonObject): string {
  return textOf(description) ?? `${textOf(name) ?? ''} ${toJson(args ?? given ?? {}) ?? ''}`.trim()
}

/** What the run goes on with. Where several interrupts wait, each answer names its own. */
export function resumeOf(answer: PauseAnswer): unknown {
  const { id } = objectOf(answer.pause.resume)
  const value = resumeValue(answer)
  return answer.waiting.length > 0 && typeof id === 'string' ? { [id]: value } : value
}

/** Whether a run waits at a breakpoint, where nothing is answered. */
export function isAtBreakpoint({ pause }: PauseAnswer): boolean {
  return objectOf(pause.resume).isBreakpoint === true
}

function resumeValue(answer: PauseAnswer): unknown {
  const { pause, option, fields, text, value } = answer
  const { values, reviews, requests } = objectOf(pause.resume)
  if (value !== undefined) return value
  if (reviews !== undefined) return review(option, Number(reviews))
  if (requests !== undefined) return inboxReplies(answer, Number(requests))
  const chosen = pause.options.findIndex(({ id }) => id === option)
  if (Object.keys(fields).length > 0) return option === undefined ? fields : { ...fields, option }
  if (chosen >= 0) return listOf(values)[chosen] ?? option
  // A graph that asks for data gets what the user has written as data.
  const data = parseJson(text)
  return typeof data === 'object' && data !== null ? data : text
}

function review(option: string | undefined, count: number): unknown {
  return { decisions: Array.from({ length: count }, () => ({ type: option ?? 'reject' })) }
}

function inboxReplies({ option, text }: Pick<PauseAnswer, 'option' | 'text'>, count: number): unknown {
  const reply = option === undefined ? { type: 'response', args: text } : { type: option, args: null }
  return Array.from({ length: count }, () => reply)
}
