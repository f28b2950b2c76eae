import { DETAIL_TYPES, type DetailEvent, type DetailSource, type DetailType } from '#core/agents/events.ts'
import { builder } from '../../builder.ts'
import type { Numbered } from '../../streams/chat-items.ts'
import { ChatFileType } from './chat-file.ts'

/** The field by which a client of a kept chat resumes. */
export const SEQUENCE = {
  nullable: true,
  description:
    'The number of this item: send it as `after` of `chatResumed` to get what follows. Null where the chat has no `idempotencyKey`, and in a whole reply.',
} as const

/** What all details have. */
const Detail = builder.interfaceRef<DetailEvent & Numbered>('Detail').implement({
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
    raw: t.field({
      type: 'JSON',
      nullable: true,
      description:
        "What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected.",
      resolve: ({ raw }) => raw,
    }),
    sequence: t.exposeInt('sequence', SEQUENCE),
  }),
})

const Source = builder.objectRef<DetailSource>('DetailSource').implement({
  description: 'A document on which a reply is based. What the platform did not report is null.',
  fields: (t) => ({
    title: t.exposeString('title', { nullable: true, description: 'The title or the name of the document.' }),
    url: t.exposeString('url', { nullable: true, description: 'Where the document can be read.' }),
    text: t.exposeString('text', { nullable: true, description: 'The passage.' }),
    document: t.exposeString('document', {
      nullable: true,
      description: 'The id of the document on the platform.',
    }),
  }),
})

const ARGUMENTS = 'All arguments of the tool, usually JSON.'

/** The object type of each kind of detail. */
const KINDS = {
  node_started: nodeKind('NodeStarted', 'A node of the workflow has started.'),
  node_finished: nodeKind('NodeFinished', 'A node of the workflow has finished; `status` says how.'),
  tool_call: builder.objectRef<DetailEvent<'tool_call'>>('ToolCall').implement({
    description: 'The agent calls a tool.',
    interfaces: [Detail],
    fields: (t) => ({
      arguments: t.string({
        nullable: true,
        description: ARGUMENTS,
        resolve: ({ data }) => data.arguments,
      }),
      argumentsDelta: t.string({
        nullable: true,
        description: 'A piece of the arguments. The pieces of the calls with one `stepId` are joined.',
        resolve: ({ data }) => data.arguments_delta,
      }),
    }),
  }),
  tool_result: builder.objectRef<DetailEvent<'tool_result'>>('ToolResult').implement({
    description: 'What a tool returned.',
    interfaces: [Detail],
    fields: (t) => ({
      arguments: t.string({
        nullable: true,
        description: ARGUMENTS,
        resolve: ({ data }) => data.arguments,
      }),
      output: t.string({
        description: 'The output; empty if the platform sent none.',
        resolve: ({ data }) => data.output,
      }),
    }),
  }),
  thought: textKind('Thought', 'What the agent considers, as its platform words it.'),
  reasoning: textKind('Reasoning', 'A piece of the reasoning of the model.'),
  sources: builder.objectRef<DetailEvent<'sources'>>('Sources').implement({
    description: 'The documents on which the reply is based.',
    interfaces: [Detail],
    fields: (t) => ({
      items: t.field({
        type: [Source],
        description: 'The documents, in the order of the platform.',
        resolve: ({ data }) => data.items,
      }),
    }),
  }),
  variables: builder.objectRef<DetailEvent<'variables'>>('Variables').implement({
    description: 'The variables of the conversation after this run.',
    interfaces: [Detail],
    fields: (t) => ({
      values: t.field({
        type: 'JSONObject',
        description: 'The variables by their names.',
        resolve: ({ data }) => data.values,
      }),
    }),
  }),
  interaction: builder.objectRef<DetailEvent<'interaction'>>('Interaction').implement({
    description: 'The platform waits for the user; the text of the reply has the question as well.',
    interfaces: [Detail],
    fields: (t) => ({
      question: t.string({
        nullable: true,
        description: 'The question.',
        resolve: ({ data }) => data.question,
      }),
      options: t.stringList({
        description: 'The answers to choose from; may be empty.',
        resolve: ({ data }) => data.options,
      }),
      form: t.field({
        type: 'JSON',
        nullable: true,
        description: 'The fields of a form, as the platform describes them.',
        resolve: ({ data }) => data.form,
      }),
    }),
  }),
  replaced: textKind(
    'TextReplacement',
    'The platform has withdrawn its text and sent another one; `status` is the reason that it gave. In a subscription it follows `ChatTextReplaced`.',
  ),
  file: builder.objectRef<DetailEvent<'file'>>('FileDetail').implement({
    description: 'The agent has made a file, which is in `files` of the reply as well.',
    interfaces: [Detail],
    fields: (t) => ({
      fileType: t.field({
        type: ChatFileType,
        description: 'The kind of the file.',
        resolve: ({ data }) => data.type,
      }),
      url: t.string({
        nullable: true,
        description: 'Where it can be read; null where it cannot be reached.',
        resolve: ({ data }) => data.url,
      }),
      mediaType: t.string({
        nullable: true,
        description: 'Its media type, where the platform reports it.',
        resolve: ({ data }) => data.media_type,
      }),
    }),
  }),
  other: builder.objectRef<DetailEvent<'other'>>('OtherDetail').implement({
    description: 'A step of another kind; `name` says of which.',
    interfaces: [Detail],
  }),
}

function nodeKind(name: string, description: string) {
  return builder.objectRef<DetailEvent<'node_started' | 'node_finished'>>(name).implement({
    description,
    interfaces: [Detail],
    fields: (t) => ({
      nodeType: t.string({
        nullable: true,
        description: 'The kind of the node, in the words of the platform.',
        resolve: ({ data }) => data.node_type,
      }),
    }),
  })
}

function textKind(name: string, description: string) {
  return builder.objectRef<DetailEvent<'thought' | 'reasoning' | 'replaced'>>(name).implement({
    description,
    interfaces: [Detail],
    fields: (t) => ({ text: t.string({ description: 'The text.', resolve: ({ data }) => data.text }) }),
  })
}

export const detailTypes = DETAIL_TYPES.map((type) => KINDS[type])

/** The GraphQL type of a kind of detail; undefined if there is no such kind. */
export function detailTypeName(type: string): string | undefined {
  return isDetailType(type) ? KINDS[type].name : undefined
}

function isDetailType(type: string): type is DetailType {
  return Object.hasOwn(KINDS, type)
}

export const DetailUnion = builder.unionType('ChatDetail', {
  description: 'One step of the progress that the platform reports. `... on Detail` selects what all have.',
  types: detailTypes,
  resolveType: ({ type }) => detailTypeName(type),
})
