import Type, { type TSchema } from 'typebox'
import { type OfferedPause, PAUSE_FIELD_TYPES } from '#core/agents/pause.ts'
import type { RequestedAnswer } from '#core/calls/request/chat-request.ts'
import { ref } from '#http/response/schemas.ts'

const text = (description: string) => Type.String({ description })

const PauseOptionSchema = Type.Object(
  { id: text('What an answer sends as `option`.'), title: text('What to show.') },
  { description: 'An answer to choose.' },
)

type FieldType = (typeof PAUSE_FIELD_TYPES)[number]

const PRESET = { description: 'The value where the answer has none.' }

/** Of each type: the name in the contract, what its value is, and its default. */
const FIELDS: Readonly<Record<FieldType, readonly [string, string, TSchema]>> = {
  text: ['PauseTextField', 'a line of text', Type.String(PRESET)],
  paragraph: ['PauseParagraphField', 'a text of several lines', Type.String(PRESET)],
  number: ['PauseNumberField', 'a number', Type.Number(PRESET)],
  select: ['PauseSelectField', 'one of `options`', Type.String(PRESET)],
  checkbox: ['PauseCheckboxField', 'true or false', Type.Boolean(PRESET)],
  file: ['PauseFileField', 'the URL of a file', Type.String(PRESET)],
  'file-list': ['PauseFileListField', 'a list of the URLs of files', Type.Array(Type.String(), PRESET)],
}

function fieldSchema(type: FieldType) {
  const [name, value, preset] = FIELDS[type]
  const options = Type.Array(Type.String(), { description: 'The values to choose from.' })
  return Type.Object(
    {
      name: text('The name under which an answer has the value.'),
      label: Type.Optional(text('What to show beside the field.')),
      type: Type.Literal(type, { description: 'What the value is.' }),
      required: Type.Boolean({ description: 'Whether the answer needs a value.' }),
      ...(type === 'select' && { options }),
      default: Type.Optional(preset),
    },
    {
      $id: name,
      description: `A field of a form whose value is ${value}.`,
      examples: [
        { name: 'comment', type, required: false, ...(type === 'select' && { options: ['a', 'b'] }) },
      ],
    },
  )
}

/** A schema for each type of field. */
export const PAUSE_FIELD_SCHEMAS = PAUSE_FIELD_TYPES.map(fieldSchema)

export const PauseFieldSchema = Type.Unsafe<OfferedPause['fields'][number]>({
  $id: 'PauseField',
  description: 'A field of the form that a pause shows. `type` says what its value is.',
  oneOf: PAUSE_FIELD_SCHEMAS.map(ref),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      PAUSE_FIELD_TYPES.map((type) => [type, `#/components/schemas/${FIELDS[type][0]}`]),
    ),
  },
  examples: [{ name: 'comment', type: 'paragraph', required: false }],
})

export const PauseSchema = Type.Unsafe<OfferedPause>(
  Type.Object(
    {
      id: text('The id of the pause, which an answer names. It is that of the call that has paused.'),
      question: text('What the user is asked; may be empty.'),
      options: Type.Array(PauseOptionSchema, { description: 'The answers to choose from; may be empty.' }),
      fields: Type.Array(ref(PauseFieldSchema), { description: 'The fields of a form; may be empty.' }),
      expires_at: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'Until when it can be answered; absent if that has no end.',
        }),
      ),
    },
    {
      $id: 'Pause',
      description:
        'The run waits for the user. The next chat in the same conversation is the answer, by its text or by `answer`.',
      examples: [
        {
          id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
          question: 'Send the offer?',
          options: [
            { id: 'approve', title: 'Approve' },
            { id: 'reject', title: 'Reject' },
          ],
          fields: [{ name: 'comment', type: 'paragraph', required: false }],
          expires_at: '2026-11-30T12:00:00.000Z',
        },
      ],
    },
  ),
)

export const PauseAnswerSchema = Type.Unsafe<RequestedAnswer>(
  Type.Object(
    {
      pause: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the pause.' }),
      option: Type.Optional(Type.String({ description: 'The id of the option that was chosen.' })),
      fields: Type.Optional(
        Type.Object(
          {},
          { additionalProperties: true, description: 'The values of the form by the names of its fields.' },
        ),
      ),
      value: Type.Optional(
        Type.Unsafe<unknown>({
          description:
            'Any JSON, which keeps its type: the answer to a pause without fields, in place of `option` and `fields`.',
        }),
      ),
      cancel: Type.Optional(
        Type.Boolean({
          description:
            'True gives the pause up and stops the run where its platform can. `query`, if it is not empty, is an ordinary message then.',
        }),
      ),
    },
    {
      $id: 'PauseAnswer',
      description:
        'The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it.',
      examples: [{ pause: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10', option: 'approve' }],
    },
  ),
)
