import { DETAIL_TYPES, type DetailEvent } from '#core/agents/events.ts'
import { builder } from '../builder.ts'

/** What all details have. */
const Detail = builder.interfaceRef<DetailEvent>('Detail').implement({
  description: 'One step of the progress that the platform reports. What it did not report is null.',
  fields: (t) => ({
    stepId: t.exposeString('id', {
      nullable: true,
      description:
        'The id of the step on the platform. A call of a tool and its result have the same one, so it identifies no detail.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'The name of the step or tool.' }),
    status: t.exposeString('status', {
      nullable: true,
      description: "The platform's word for the state of the step, such as `succeeded`.",
    }),
    elapsedMs: t.field({
      type: 'SafeInt',
      nullable: true,
      description: 'How many milliseconds the step took.',
      resolve: ({ elapsed_ms }) => elapsed_ms,
    }),
    data: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Further data in the form of the platform.',
      resolve: ({ data }) => data,
    }),
  }),
})

/** The name in the schema and the meaning of each kind of detail. */
const KINDS = {
  node_started: ['NodeStarted', 'A node of the workflow has started.'],
  node_finished: ['NodeFinished', 'A node of the workflow has finished; `status` says how.'],
  tool_call: ['ToolCall', 'The agent calls a tool; `data` has the arguments, perhaps in parts.'],
  tool_result: ['ToolResult', 'The result of a tool, in `data`.'],
  thought: ['Thought', 'What the agent considers, as its platform words it.'],
  reasoning: ['Reasoning', 'A piece of the reasoning of the model.'],
  sources: ['Sources', 'The documents on which the reply is based, in `data`.'],
  variables: ['Variables', 'The variables of the conversation after this run, in `data`.'],
  interaction: ['Interaction', 'The platform waits for the user; the text of the reply has the question.'],
  replaced: [
    'TextReplacement',
    'The platform has withdrawn its text and sent another one. Only in `ChatReply.details`; a subscription has `ChatTextReplaced` instead.',
  ],
  other: ['OtherDetail', 'A step of another kind; `name` says of which.'],
} as const satisfies Record<DetailEvent['type'], readonly [string, string]>

/** Kinds whose data is a text, or an object with a text. */
const TEXTS: ReadonlySet<DetailEvent['type']> = new Set(['thought', 'reasoning', 'replaced'])

function implement(type: DetailEvent['type']) {
  const [name, description] = KINDS[type]
  return builder.objectRef<DetailEvent>(name).implement({
    description,
    interfaces: [Detail],
    ...(TEXTS.has(type) && {
      fields: (t) => ({
        text: t.string({ description: 'The text.', resolve: textOf }),
      }),
    }),
  })
}

/** Never null: a selection may only merge it with the `text` of other items if both have the same type. */
function textOf({ data }: DetailEvent): string {
  if (typeof data === 'string') return data
  const { text } = (data ?? {}) as { text?: unknown }
  return typeof text === 'string' ? text : ''
}

export const detailTypes = DETAIL_TYPES.map(implement)

/** The type in the schema of a detail, or undefined for what is none. */
export function detailTypeName(type: string): string | undefined {
  return type in KINDS ? KINDS[type as DetailEvent['type']][0] : undefined
}

export const DetailUnion = builder.unionType('ChatDetail', {
  description: 'One step of the progress that the platform reports. `... on Detail` selects what all have.',
  types: detailTypes,
  resolveType: ({ type }) => detailTypeName(type),
})
