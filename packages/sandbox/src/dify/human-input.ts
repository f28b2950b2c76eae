import { randomBytes, randomUUID } from 'node:crypto'
import type { PauseKind } from '../replies/faults.ts'
import { type Language, languageOf } from '../replies/language.ts'
import { type Answer, Refusal } from '../serving/answer.ts'
import type { SentFile } from '../serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { difyError } from './errors.ts'
import type { DifyFiles } from './files.ts'

interface Input {
  readonly type: 'paragraph' | 'select' | 'file' | 'file-list'
  readonly output_variable_name: string
  readonly option_source?: { readonly type: 'constant'; readonly value: readonly string[] }
  readonly number_limits?: number
}

interface Action {
  readonly id: string
  readonly title: string
  readonly button_style: 'primary' | 'default'
}

/** A form of a Human Input node, which can be submitted once. */
export interface Form {
  readonly id: string
  readonly token: string
  /** Forms that are delivered by e-mail only have a token that the API does not tell. */
  readonly isTold: boolean
  /** Whether the events lack everything about the form. */
  readonly isEmpty: boolean
  readonly nodeId: string
  readonly nodeTitle: string
  readonly content: string
  readonly inputs: readonly Input[]
  readonly actions: readonly Action[]
  /** The defaults that come from a variable; constant ones are in the inputs. */
  readonly defaults: Readonly<Record<string, string>>
  /** In seconds. */
  readonly expiresAt: number
  submission: Submission | undefined
}

export interface Submission {
  readonly action: Action
  readonly inputs: JsonRecord
  /** The inputs as a person reads them; a file is its name, size and hash. */
  readonly shown: JsonRecord
}

const APPROVE: Action = { id: 'approve', title: 'Approve', button_style: 'primary' }
const REJECT: Action = { id: 'reject', title: 'Reject', button_style: 'default' }
const SEND: Action = { id: 'send', title: 'Send', button_style: 'primary' }

const FILE_RULES = {
  allowed_file_types: ['image', 'document', 'audio', 'video', 'custom'],
  allowed_file_extensions: ['txt', 'bin'],
  allowed_file_upload_methods: ['local_file', 'remote_url'],
}

/** The inputs of `sandbox:interactive=form`: one of each type that Dify has. Each must be in a submission. */
const FIELDS: readonly Input[] = [
  paragraph('comment', { type: 'variable', selector: ['sys', 'query'], value: '' }),
  {
    type: 'select',
    output_variable_name: 'priority',
    option_source: { type: 'constant', value: ['low', 'normal', 'high'] },
  },
  { type: 'file', output_variable_name: 'attachment', ...FILE_RULES },
  { type: 'file-list', output_variable_name: 'evidence', ...FILE_RULES, number_limits: 3 },
]

const ONE_FIELD = [paragraph('comment', { type: 'constant', selector: [], value: 'Fine.' })]

function paragraph(name: string, source: object): Input & { readonly default: object } {
  return { type: 'paragraph', output_variable_name: name, default: source }
}

const HOUR_S = 3_600

/** The forms of a run, in the order in which they pause it. Forms of one pause wait at once. */
export function formsOf(kind: PauseKind, question: string, nowS: number): readonly (readonly Form[])[] {
  const words = WORDS[languageOf(question)]
  const build = (number: number, content: string, more: Partial<Form> = {}): Form => ({
    id: randomUUID(),
    token: randomBytes(16).toString('base64url'),
    isTold: kind !== 'email',
    isEmpty: kind === 'empty',
    nodeId: `human-input-${number}`,
    nodeTitle: `Approval ${number}`,
    content,
    inputs: [],
    actions: [APPROVE, REJECT],
    defaults: {},
    // 36 hours are the node's default; an expired form stands for one that nobody has answered in time.
    expiresAt: kind === 'expired' ? nowS - 60 : nowS + 36 * HOUR_S,
    submission: undefined,
    ...more,
  })
  const first = build(1, words.ask(question))
  switch (kind) {
    case 'form':
      return [[build(1, words.fill(question), { inputs: FIELDS, defaults: { comment: question } })]]
    case 'text':
      return [[build(1, words.fill(question), { inputs: ONE_FIELD, actions: [SEND] })]]
    case 'twice':
      return [[first], [build(2, words.again)]]
    case 'both':
      return [[first, build(2, words.too)]]
    case 'choice':
    case 'expired':
    case 'email':
    case 'empty':
      return [[first]]
  }
}

interface Words {
  ask(question: string): string
  fill(question: string): string
  readonly again: string
  readonly too: string
}

const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    ask: (question) => `Shall I go on with “${question}”?`,
    fill: (question) => `What should I know about “${question}”?`,
    again: 'Are you sure?',
    too: 'Does the second reviewer agree?',
  },
  zh: {
    ask: (question) => `要继续处理“${question}”吗？`,
    fill: (question) => `关于“${question}”，还有什么要说明的？`,
    again: '确定吗？',
    too: '第二位审核人同意吗？',
  },
}

/** The form as `human_input_required` and the reasons of `workflow_paused` describe it. */
export function describeForm(form: Form) {
  return {
    form_id: form.id,
    node_id: form.nodeId,
    node_title: form.nodeTitle,
    form_content: form.content,
    inputs: form.inputs,
    actions: form.actions,
    display_in_ui: form.isTold,
    form_token: form.isTold ? form.token : null,
    resolved_default_values: form.defaults,
    expiration_time: form.expiresAt,
  }
}

/** The form as its own route describes it. */
export function formDefinition(form: Form) {
  return {
    form_content: form.content,
    inputs: form.inputs,
    resolved_default_values: form.defaults,
    user_actions: form.actions,
    expiration_time: form.expiresAt,
  }
}

/** @throws Refusal if the form was submitted or has expired */
export function checkActive({ id, submission, expiresAt }: Form): void {
  if (submission) {
    const message = `This form has already been submitted by another user, form_id=${id}`
    throw new Refusal(difyError(412, 'human_input_form_submitted', message))
  }
  if (expiresAt * 1_000 <= Date.now())
    throw new Refusal(difyError(412, 'human_input_form_expired', `This form has expired, form_id=${id}`))
}

interface CheckedSubmission {
  readonly action: Action
  readonly inputs: JsonRecord
  /** The files in the inputs of file types, by the inputs' names. */
  readonly files: Readonly<Record<string, readonly SentFile[]>>
}

/**
 * Dify knows no optional inputs: each must be there, though it may be empty. Values under names that the form does not have are
 * kept and not checked.
 *
 * @throws Refusal if the action or an input is not one of the form
 */
export function checkSubmission(
  form: Form,
  body: JsonRecord,
  files: DifyFiles,
  owner: string,
): CheckedSubmission {
  const inputs = asRecord(body.inputs)
  // The request is read before the form is looked at.
  if (inputs !== body.inputs || typeof body.action !== 'string') throw new Refusal(UNREADABLE)
  const action = form.actions.find(({ id }) => id === body.action)
  if (!action) throw invalid(`Invalid action: ${body.action}`)
  const names = form.inputs.map((input) => input.output_variable_name)
  const missing = names.filter((name) => !Object.hasOwn(inputs, name))
  if (missing.length > 0) throw invalid(`Missing required inputs: ${missing.join(', ')}`)
  const found: Record<string, readonly SentFile[]> = {}
  for (const input of form.inputs) {
    const name = input.output_variable_name
    const sent = checkInput(input, inputs[name])
    if (sent) found[name] = files.find(sent, owner)
  }
  return { action, inputs, files: found }
}

/** Returns the files of an input that takes files. */
function checkInput(input: Input, value: unknown): readonly JsonRecord[] | undefined {
  const name = input.output_variable_name
  switch (input.type) {
    case 'paragraph':
      return undefined
    case 'select':
      if (typeof value !== 'string')
        throw invalid(`Invalid value for select input '${name}': expected string`)
      if (!input.option_source?.value.includes(value))
        throw invalid(`Invalid value for select input '${name}': ${value}`)
      return undefined
    case 'file':
      return [checkFile(name, value, 'expected mapping')]
    case 'file-list': {
      if (!Array.isArray(value)) throw invalid(`Invalid value for file list input '${name}': expected list`)
      const list = asList(value).map((each) => checkFile(name, each, 'expected list of mappings'))
      if (list.length > (input.number_limits ?? 0))
        throw invalid(`Invalid value for file list input '${name}': exceeds number limit`)
      return list
    }
  }
}

function checkFile(name: string, value: unknown, expected: string): JsonRecord {
  const file = asRecord(value)
  if (file !== value) throw invalid(`Invalid value for file input '${name}': ${expected}`)
  if (!FILE_RULES.allowed_file_types.includes(asText(file.type)))
    throw invalid(`Invalid value for file input '${name}': unsupported file type`)
  if (!FILE_RULES.allowed_file_upload_methods.includes(asText(file.transfer_method)))
    throw invalid(`Invalid value for file input '${name}': unsupported transfer method`)
  return file
}

const UNREADABLE: Answer = difyError(
  400,
  'invalid_param',
  '2 validation errors for HumanInputFormSubmitPayload\ninputs\n  Field required\naction\n  Field required',
)

function invalid(message: string): Refusal {
  return new Refusal(difyError(400, 'invalid_form_data', message))
}
