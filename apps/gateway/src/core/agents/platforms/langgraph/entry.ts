import Type from 'typebox'
import { oneOf, section, text } from '#core/agents/entry-schema.ts'

const ASSISTANT = {
  perDeployment: true,
  description: 'The assistant that runs: its id, or the name of its graph in `langgraph.json`.',
  examples: ['agent'],
} as const

export const ENTRY = {
  agent: section({
    assistantId: Type.Optional(text({ ...ASSISTANT, whenAbsent: '`agent`' })),
    node: Type.Optional(
      text({
        description:
          'The node of the graph whose messages are the answer. Those of others are left out then.',
        whenAbsent: 'the last message of whatever node',
        examples: ['write_answer'],
      }),
    ),
    keyHeader: oneOf(['x-api-key', 'authorization'], {
      default: 'x-api-key',
      description: 'The header that takes the key; `authorization` gets it as a bearer token.',
    }),
  }),
  app: section({
    assistantId: Type.Optional(text({ ...ASSISTANT, whenAbsent: 'the id of the app' })),
  }),
}
