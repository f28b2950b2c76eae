import { builder } from '../builder.ts'

/** Whatever has an id of its own. */
export const Node = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'An object that `node` and `nodes` find by its id.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'The id, the same as in the REST API: a UUID, or the name of an agent, such as `fastgpt`.',
    }),
  }),
})
