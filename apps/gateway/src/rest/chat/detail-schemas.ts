import Type, { type TProperties } from 'typebox'
import { DETAIL_TYPES, type DetailEvent, type DetailType } from '#core/agents/events.ts'
import { MADE_FILE_TYPES } from '#core/agents/made-file.ts'
import { oneOf, ref } from '#http/response/schemas.ts'

const json = (description: string) => Type.Object({}, { additionalProperties: true, description })
const text = (description: string) => Type.String({ description })

const ArgumentsText = Type.Optional(text('All arguments of the tool, usually JSON.'))
const NodeData = {
  node_type: Type.Optional(text('The kind of the node, in the words of the platform.')),
}

/** Of each kind: the name in the contract, what it means, its data, and an example without `type`. */
const KINDS: Readonly<Record<DetailType, readonly [string, string, TProperties, object]>> = {
  node_started: [
    'NodeStartedDetail',
    'A node of the workflow has started.',
    NodeData,
    { name: 'Knowledge base search', data: { node_type: 'knowledge-retrieval' } },
  ],
  node_finished: [
    'NodeFinishedDetail',
    'A node of the workflow has finished; `status` says how.',
    NodeData,
    { name: 'Knowledge base search', status: 'succeeded', elapsed_ms: 240, data: {} },
  ],
  tool_call: [
    'ToolCallDetail',
    'The agent calls a tool.',
    {
      arguments: ArgumentsText,
      arguments_delta: Type.Optional(
        text('A piece of the arguments. The pieces of the calls with one `id` are joined.'),
      ),
    },
    { id: 'call_1', name: 'weather', data: { arguments: '{"city":"Hangzhou"}' } },
  ],
  tool_result: [
    'ToolResultDetail',
    'What a tool returned.',
    { arguments: ArgumentsText, output: text('The output; empty if the platform sent none.') },
    { id: 'call_1', name: 'weather', data: { output: '21 degrees' } },
  ],
  thought: [
    'ThoughtDetail',
    'What the agent considers, as its platform words it.',
    { text: text('The thought.') },
    { data: { text: 'I should look that up.' } },
  ],
  reasoning: [
    'ReasoningDetail',
    'The reasoning of the model: in a stream a piece of it, in a JSON reply all up to the next step.',
    { text: text('The text.') },
    { data: { text: 'First, the question.' } },
  ],
  sources: [
    'SourcesDetail',
    'The documents on which the reply is based.',
    {
      items: Type.Array(
        Type.Object(
          {
            title: Type.Optional(text('The title or the name of the document.')),
            url: Type.Optional(text('Where the document can be read.')),
            text: Type.Optional(text('The passage.')),
            document: Type.Optional(text('The id of the document on the platform.')),
          },
          { description: 'A document. What the platform did not report is absent.' },
        ),
        { description: 'The documents, in the order of the platform.' },
      ),
    },
    { data: { items: [{ title: 'guide.md', text: 'A gateway is …' }] } },
  ],
  variables: [
    'VariablesDetail',
    'The variables of the conversation after this run.',
    { values: json('The variables by their names.') },
    { data: { values: { city: 'Hangzhou' } } },
  ],
  interaction: [
    'InteractionDetail',
    'The platform waits for the user. The text of the reply has the question as well.',
    {
      question: Type.Optional(text('The question.')),
      options: Type.Array(Type.String(), { description: 'The answers to choose from; may be empty.' }),
      form: Type.Optional(
        Type.Unknown({ description: 'The fields of a form, as the platform describes them.' }),
      ),
    },
    { name: 'userSelect', data: { question: 'Which one?', options: ['first', 'second'] } },
  ],
  replaced: [
    'ReplacedDetail',
    'The platform has withdrawn its text and sent another one; `status` is the reason that it gave.',
    { text: text('The text that is the reply now.') },
    { data: { text: 'I cannot answer that.' } },
  ],
  file: [
    'FileDetail',
    'The agent has made a file, which is in `files` of the reply as well.',
    {
      type: oneOf(MADE_FILE_TYPES, 'The kind of the file.'),
      url: Type.Optional(text('Where it can be read; absent where it cannot be reached.')),
      media_type: Type.Optional(text('Its media type, where the platform reports it.')),
    },
    { name: 'chart.png', data: { type: 'image', url: 'https://files.example.com/chart.png' } },
  ],
  other: [
    'OtherDetail',
    'A step of another kind; `name` says of which.',
    {},
    { name: 'workflow_started', data: {} },
  ],
}

function schemaOf(type: DetailType) {
  const [name, description, data, example] = KINDS[type]
  return Type.Object(
    {
      type: Type.Literal(type, { description: 'The kind of the step, the same for all platforms.' }),
      id: Type.Optional(text('The id of the step on the platform.')),
      name: Type.Optional(text('The name of the step or tool.')),
      status: Type.Optional(text("The platform's word for the state of the step.")),
      data: Type.Object(data, { description: 'What a step of this kind carries.' }),
      elapsed_ms: Type.Optional(Type.Number({ description: 'How many milliseconds the step took.' })),
      raw: Type.Optional(
        json(
          "What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected.",
        ),
      ),
    },
    { $id: name, description, examples: [{ type, ...example }] },
  )
}

/** A schema for each kind, and the union of them. */
export const DETAIL_KIND_SCHEMAS = DETAIL_TYPES.map(schemaOf)

export const DetailEventSchema = Type.Unsafe<DetailEvent>({
  $id: 'DetailEvent',
  description: "One step of the platform's progress, sent if `detail` is true. `type` is its kind.",
  oneOf: DETAIL_KIND_SCHEMAS.map(ref),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(DETAIL_TYPES.map((type) => [type, `#/components/schemas/${KINDS[type][0]}`])),
  },
  examples: [
    {
      type: 'node_finished',
      name: 'Knowledge base search',
      status: 'succeeded',
      elapsed_ms: 240,
      data: { node_type: 'knowledge-retrieval' },
    },
  ],
})
