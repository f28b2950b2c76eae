import type { Pause, PauseAnswer, PauseOption } from '#core/agents/pause.ts'
import { formOfSchema } from '#core/agents/translate/form-of-schema.ts'
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

/** The question of one interrupt: `value` is whatever the graph has given. */
export function pauseOf(interrupt: unknown): Pause {
  const { id, interrupt_id, value } = objectOf(interrupt)
  const known = textOf(id) ?? textOf(interrupt_id)
  return reviewOf(value, known) ?? questionOf(value, known)
}

function questionOf(value: unknown, id: string | undefined): Pause {
  const asked = objectOf(value)
  const choices = CHOICES.map((name) => asked[name]).find((each) => listOf(each).length > 0)
  const offered = listOf(choices).map(optionOf)
  const options = offered.filter(({ option: { id: key } }) => key !== '')
  const schema = SCHEMAS.map((name) => asked[name]).find((each) => each !== undefined)
  const fields = formOfSchema(schema)
  const said = QUESTIONS.map((name) => textOf(asked[name])).find((each) => each !== undefined)
  const question = typeof value === 'string' ? value : (said ?? (isEmpty(value) ? '' : toJson(value)) ?? '')
  return {
    question,
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

function actionText({ name, args, arguments: given, description }: JsonObject): string {
  return textOf(description) ?? `${textOf(name) ?? ''} ${toJson(args ?? given ?? {}) ?? ''}`.trim()
}

/** What the run goes on with. Where several interrupts wait, each answer names its own. */
export function resumeOf({ pause, waiting, option, fields, text }: PauseAnswer): unknown {
  const { id, values, reviews } = objectOf(pause.resume)
  const answer =
    reviews === undefined
      ? answerValue(pause, { option, fields, text }, listOf(values))
      : review(option, Number(reviews))
  return waiting.length > 0 && typeof id === 'string' ? { [id]: answer } : answer
}

function answerValue(
  { options }: Pause,
  { option, fields, text }: { option: string | undefined; fields: JsonObject; text: string },
  values: readonly unknown[],
): unknown {
  const chosen = options.findIndex(({ id }) => id === option)
  if (Object.keys(fields).length > 0) return option === undefined ? fields : { ...fields, option }
  if (chosen >= 0) return values[chosen] ?? option
  // A graph that asks for data gets what the user has written as data.
  const data = parseJson(text)
  return isObject(data) ? data : text
}

function review(option: string | undefined, count: number): unknown {
  return { decisions: Array.from({ length: count }, () => ({ type: option ?? 'reject' })) }
}
