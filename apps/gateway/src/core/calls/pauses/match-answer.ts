import type { OfferedPause, Pause, PauseAnswer, PauseField } from '#core/agents/pause.ts'
import { fail, type Mistake, Problem } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { isObject, type JsonObject, parseJson } from '#core/base/values/json.ts'
import type { RequestedAnswer } from '#core/calls/request/chat-request.ts'
import { callerName } from '#core/requests/input/caller-name.ts'

/** What a call says to a pause: the answer, or that the pause is given up. */
export type PauseReply = Omit<PauseAnswer, 'waiting'> | 'cancel'

/** What a call brings that may be an answer. */
export interface PauseInput {
  readonly query: string
  readonly answer: RequestedAnswer | undefined
  /** The field of the query, for messages. */
  readonly queryField: FieldPath
  /** @throws Problem for a value that is no URL of a file which the caller may send */
  requireFile(url: unknown, field: FieldPath): void
}

/**
 * Decides what a call says to the pause of its conversation.
 *
 * @throws Problem `answer_required`, which names the field and what is possible; `pause_over` for a pause that cannot be answered through the gateway
 */
export function matchAnswer(pause: Pause, asked: PauseInput): PauseReply {
  const { query, answer } = asked
  if (answer?.cancel === true) return 'cancel'
  // An answer that only names the pause adds nothing to the text of the query, which is then read as without it.
  const isText =
    answer?.option === undefined &&
    answer?.fields === undefined &&
    answer?.value === undefined &&
    query.trim() !== ''
  const given = isText ? undefined : answer
  const told =
    given ?? (pause.fields.length > 0 || pause.options.length > 0 ? answerInJson(query, pause) : undefined)
  if (told?.cancel === true) return 'cancel'
  if (pause.unanswerable !== undefined) return fail('pause_over', { detail: pause.unanswerable })
  if (given?.value !== undefined) return fromValue(pause, given)
  const place: FieldPath = given === undefined ? asked.queryField : ['answer']
  if (told !== undefined && (told.option !== undefined || told.fields !== undefined || given !== undefined))
    return fromObject(pause, told, asked, place, given !== undefined)
  return fromText(pause, query, asked)
}

/** A value of any type, which stands for itself: the option of this value, or the answer as a whole. */
function fromValue(pause: Pause, { option, fields, value }: RequestedAnswer): PauseReply {
  const isAlone = option === undefined && fields === undefined
  if (pause.fields.length > 0 || !isAlone) return refuse(['answer', 'value'], pause)
  const chosen = pause.options.find(({ id }) => id === String(value))
  if (chosen !== undefined) return { option: chosen.id, fields: {}, text: '', pause }
  if (!pause.takesText) return refuse(['answer', 'value'], pause)
  return { fields: {}, text: '', value, pause }
}

function fromText(pause: Pause, query: string, { queryField }: PauseInput): PauseReply {
  const word = comparable(query)
  const option = pause.options.find(({ id, title }) => comparable(id) === word || comparable(title) === word)
  if (option !== undefined) {
    refuseAll(missingFields(pause, {}, () => queryField))
    return { option: option.id, fields: withDefaults(pause, {}), text: query, pause }
  }
  if (pause.takesText) return { fields: {}, text: query, pause }
  const field = onlyField(pause)
  const value = field === undefined ? undefined : typedText(field, query)
  if (field !== undefined && value !== undefined && word !== '') {
    const [only] = pause.options
    return {
      ...(only !== undefined && { option: only.id }),
      fields: { [field.name]: value },
      text: query,
      pause,
    }
  }
  return refuse(queryField, pause)
}

function fromObject(
  pause: Pause,
  { option: chosen, fields: given = {} }: Pick<RequestedAnswer, 'option' | 'fields'>,
  { query, requireFile }: PauseInput,
  place: FieldPath,
  isOwnField: boolean,
): PauseReply {
  const at = (...path: FieldPath): FieldPath => (isOwnField ? [...place, ...path] : place)
  const option = chosen === undefined ? onlyOption(pause) : pause.options.find(({ id }) => id === chosen)
  const mistakes: Mistake[] = []
  if (chosen !== undefined && option === undefined)
    mistakes.push({ field: at('option'), text: possible(pause) })
  const names = new Set(pause.fields.map(({ name }) => name))
  for (const name of Object.keys(given)) {
    if (!names.has(name)) mistakes.push({ field: at('fields', callerName(name)), text: possible(pause) })
  }
  const fields: Record<string, unknown> = { ...given }
  const text = onlyTextField(pause)
  if (isOwnField && text !== undefined && fields[text.name] === undefined && query.trim() !== '')
    fields[text.name] = query
  const isText =
    chosen === undefined && option === undefined && Object.keys(fields).length === 0 && query.trim() !== ''
  if (isText && isOwnField && pause.takesText) return { fields: {}, text: query, pause }
  if (chosen === undefined && option === undefined && pause.options.length > 0)
    mistakes.push({ field: at('option'), text: possible(pause) })
  mistakes.push(...missingFields(pause, fields, (name) => at('fields', name)))
  for (const field of pause.fields) {
    const value = fields[field.name]
    if (value === undefined || value === null) continue
    const text = mistakeOf(field, value)
    if (text !== undefined) mistakes.push({ field: at('fields', field.name), text })
  }
  refuseAll(mistakes)
  for (const { name, type } of pause.fields) {
    if (type !== 'file' && type !== 'file-list') continue
    for (const url of [fields[name] ?? []].flat()) requireFile(url, at('fields', name))
  }
  if (option === undefined && Object.keys(fields).length === 0 && pause.fields.length === 0)
    return refuse(isOwnField ? ['query'] : place, pause)
  return {
    ...(option !== undefined && { option: option.id }),
    fields: withDefaults(pause, fields),
    text: '',
    pause,
  }
}

/** The text as an answer, if it is the JSON of one. A form's own fields of the same names take precedence. */
function answerInJson(
  query: string,
  { fields }: Pick<Pause, 'fields'>,
): Omit<RequestedAnswer, 'pause'> | undefined {
  if (!query.trimStart().startsWith('{')) return undefined
  const json = parseJson(query)
  if (!isObject(json)) return undefined
  const names = new Set(fields.map(({ name }) => name))
  const keys = Object.keys(json)
  if (keys.length > 0 && keys.every((key) => names.has(key))) return { fields: json }
  const own = (...aliases: readonly string[]) =>
    aliases
      .filter((alias) => !names.has(alias))
      .map((alias) => json[alias])
      .find((value) => value !== undefined)
  const option = own('option', 'action')
  const values = own('fields', 'inputs')
  const cancel = own('cancel')
  if (option === undefined && values === undefined && cancel === undefined) return undefined
  return {
    ...(typeof option === 'string' && { option }),
    ...(isObject(values) && { fields: values }),
    ...(cancel === true && { cancel }),
  }
}

function missingFields(pause: Pause, given: JsonObject, at: (name: string) => FieldPath): readonly Mistake[] {
  return pause.fields
    .filter(({ name, required, default: preset }) => required && preset === undefined && isBlank(given[name]))
    .map(({ name }) => ({ field: at(name), text: `${name} is required; ${possible(pause)}` }))
}

/** @throws Problem `answer_required` with all mistakes; those of an answer in the query are all in that one field */
function refuseAll([first, ...others]: readonly Mistake[]): void {
  if (first === undefined) return
  throw new Problem('answer_required', { field: first.field, detail: first.text }).with([
    { reason: 'answer_required', mistakes: others },
  ])
}

function withDefaults({ fields }: Pause, given: JsonObject): JsonObject {
  const presets = fields.flatMap(({ name, default: preset }) =>
    preset === undefined || !isBlank(given[name]) ? [] : [[name, preset] as const],
  )
  return { ...given, ...Object.fromEntries(presets) }
}

function mistakeOf({ name, type, options = [] }: PauseField, value: unknown): string | undefined {
  switch (type) {
    case 'number':
      return typeof value === 'number' ||
        (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
        ? undefined
        : `${name}: expected a number.`
    case 'select':
      return options.length === 0 || options.includes(String(value))
        ? undefined
        : `${name}: expected one of ${options.join(', ')}.`
    case 'checkbox':
      return typeof value === 'boolean' ? undefined : `${name}: expected true or false.`
    case 'file':
      return typeof value === 'string' ? undefined : `${name}: expected the URL of a file.`
    case 'file-list':
      return Array.isArray(value) && value.every((url) => typeof url === 'string')
        ? undefined
        : `${name}: expected a list of the URLs of files.`
    default:
      return typeof value === 'string' ? undefined : `${name}: expected a text.`
  }
}

function refuse(field: FieldPath, pause: Pause): never {
  return fail('answer_required', { field, detail: possible(pause) })
}

/** What an answer may be, for the message of a refusal. */
function possible({ options, fields }: Pick<OfferedPause, 'options' | 'fields'>): string {
  const choices = options.map(({ id, title }) => (id === title ? id : `${id} (${title})`))
  const inputs = fields.map(({ name, required }) => (required ? name : `${name} (optional)`))
  return [
    choices.length > 0 ? `expected one of the options ${choices.join(', ')}` : 'expected an answer',
    ...(inputs.length > 0 ? [`with the fields ${inputs.join(', ')}`] : []),
  ]
    .join(' ')
    .concat('; answer.cancel gives the question up.')
}

function onlyOption({ options }: Pause) {
  return options.length === 1 ? options[0] : undefined
}

/** The field that a text alone fills in. */
function onlyField({ options, fields }: Pause): PauseField | undefined {
  const [field, ...others] = fields
  return others.length === 0 && options.length <= 1 ? field : undefined
}

function onlyTextField(pause: Pause): PauseField | undefined {
  const field = onlyField(pause)
  return field?.type === 'text' || field?.type === 'paragraph' ? field : undefined
}

/** What a text means for a field of this type; undefined if it means nothing. */
function typedText({ type, options = [] }: PauseField, text: string): unknown {
  const word = comparable(text)
  switch (type) {
    case 'text':
    case 'paragraph':
      return text
    case 'number':
      return word !== '' && Number.isFinite(Number(word)) ? Number(word) : undefined
    case 'checkbox':
      return word === 'true' ? true : word === 'false' ? false : undefined
    case 'select':
      return options.find((option) => comparable(option) === word)
    default:
      return undefined
  }
}

/** Whether a text is exactly one of the options, as people type it. */
export function isOption({ options }: Pick<Pause, 'options'>, query: string): boolean {
  const word = comparable(query)
  return options.some(({ id, title }) => comparable(id) === word || comparable(title) === word)
}

function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}
