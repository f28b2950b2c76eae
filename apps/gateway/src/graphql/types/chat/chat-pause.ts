import type {
  PauseField as Field,
  OfferedPause,
  PauseOption as Option,
  PAUSE_FIELD_TYPES,
} from '#core/agents/pause.ts'
import { closed } from '#resources/define/vocabulary.ts'
import { builder } from '../../builder.ts'
import { vocabularyEnum } from '../../enum-of.ts'

/** Enums of GraphQL have no hyphens. */
const FIELD_TYPES = {
  text: 'text',
  paragraph: 'paragraph',
  number: 'number',
  select: 'select',
  checkbox: 'checkbox',
  file: 'file',
  'file-list': 'file_list',
} as const satisfies Record<(typeof PAUSE_FIELD_TYPES)[number], string>

const PauseFieldType = vocabularyEnum(
  closed('PauseFieldType', Object.values(FIELD_TYPES), 'What the value of a field is.', {
    text: 'A line of text.',
    paragraph: 'A text of several lines.',
    number: 'A number.',
    select: 'One of the options of the field.',
    checkbox: 'True or false.',
    file: 'The URL of a file.',
    file_list: 'A list of the URLs of files.',
  }),
)

const PauseOption = builder.objectRef<Option>('PauseOption').implement({
  description: 'An answer to choose.',
  fields: (t) => ({
    // Not `id`, by which clients would keep it: an option is only itself within its pause.
    optionId: t.exposeString('id', { description: 'What an answer sends as `optionId`.' }),
    title: t.exposeString('title', { description: 'What to show.' }),
  }),
})

const PauseField = builder.objectRef<Field>('PauseField').implement({
  description: 'A field of the form that a pause shows.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name under which an answer has the value.' }),
    label: t.string({
      nullable: true,
      description: 'What to show beside the field.',
      resolve: ({ label }) => label ?? null,
    }),
    type: t.field({
      type: PauseFieldType,
      description: 'What the value is.',
      resolve: ({ type }) => FIELD_TYPES[type],
    }),
    required: t.exposeBoolean('required', { description: 'Whether the answer needs a value.' }),
    options: t.stringList({
      description: 'What a field of the type `SELECT` offers; empty for others.',
      resolve: ({ options }) => [...(options ?? [])],
    }),
    default: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value where the answer has none.',
      resolve: (field) => field.default ?? null,
    }),
  }),
})

export const OPEN_QUESTION = 'The open question at which the run waits for its user.'

export const Pause = builder.objectRef<OfferedPause>('Pause').implement({
  description:
    'The run waits for the user. The next chat in the same conversation is the answer, by its `query` or by `answer`.',
  fields: (t) => ({
    pauseId: t.exposeID('id', {
      description: 'What an answer names. It is the id of the call that has paused.',
    }),
    question: t.exposeString('question', { description: 'What the user is asked; may be empty.' }),
    options: t.field({
      type: [PauseOption],
      description: 'The answers to choose from; may be empty.',
      resolve: ({ options }) => options,
    }),
    fields: t.field({
      type: [PauseField],
      description: 'The fields of a form; may be empty.',
      resolve: ({ fields }) => fields,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when it can be answered; null if that has no end.',
      resolve: ({ expires_at: at }) => (at === undefined ? null : new Date(at)),
    }),
  }),
})

export const PauseAnswerInput = builder.inputType('PauseAnswerInput', {
  description:
    'The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it.',
  fields: (t) => ({
    pauseId: t.id({ required: true, description: 'The id of the pause.' }),
    optionId: t.string({ description: 'The id of the option that was chosen.' }),
    fields: t.field({
      type: 'JSONObject',
      description: 'The values of the form by the names of its fields.',
    }),
    value: t.field({
      type: 'JSON',
      description:
        'Any JSON, which keeps its type: the answer to a pause without fields, in place of `optionId` and `fields`.',
    }),
    cancel: t.boolean({
      description:
        'True gives the pause up and stops the run where its platform can. `query`, if it is not empty, is an ordinary message then.',
    }),
  }),
})
