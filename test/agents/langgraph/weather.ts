import { tool } from '@langchain/core/tools'

export const weather = tool(({ city }) => `It is sunny in ${city}.`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
})
