import { fail, refuseField } from '#core/base/errors/errors.ts'
import { PAGE_ITEMS_MAX } from '#core/requests/input/pagination.ts'
import { builder } from '../builder.ts'
import { Node } from '../resources/node.ts'

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'The object with this id, of whatever type, if you may see it. Takes an access token or any API key.',
    args: {
      id: t.arg.id({
        required: true,
        description: 'The id of a user, API key, call, upload, conversation or agent.',
      }),
    },
    resolve: async (_root, { id }, { loaders }) => (await loaders.node(id)) ?? fail('object_not_found'),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: true, items: true },
    description:
      'The objects with these ids, in this order; null for each that does not exist. Takes an access token or any API key.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: `The ids of users, API keys, calls, uploads, conversations and agents, at most ${PAGE_ITEMS_MAX}.`,
      }),
    },
    resolve: (_root, { ids }, { loaders }) => {
      if (ids.length > PAGE_ITEMS_MAX) refuseField(['ids'], `expected at most ${PAGE_ITEMS_MAX} ids.`)
      return Promise.all(ids.map((id) => loaders.node(id)))
    },
  }),
}))
