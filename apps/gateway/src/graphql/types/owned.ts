import { API_KEYS, OWNED_CONDITIONS } from '#resources/api-key.ts'
import { builder } from '../builder.ts'
import { orderedConnection } from '../reads/ordered-connection.ts'
import { conditionsIn } from '../resources/list-field.ts'
import { orderedArguments } from '../resources/ordered-list.ts'
import { ApiKey, ApiKeyConnection } from './api-key.ts'
import { Upload, UploadConnection } from './upload.ts'
import { User } from './user.ts'

/* The lists of what belongs to a user or a key: relations in the direction that would make the types import each other. */

builder.prismaObjectField(User, 'apiKeys', (t) =>
  t.connection(
    {
      type: ApiKey,
      nullable: true,
      description: 'The API keys that belong to the user, newest first or in the order that you ask for.',
      args: orderedArguments({ conditions: OWNED_CONDITIONS, orders: API_KEYS.orders }),
      resolve: ({ id }, args, context, info) => {
        const { loaders } = context
        const filter = conditionsIn(OWNED_CONDITIONS, args)
        return orderedConnection(args, context, info, {
          read: (query) => loaders.keysOf(id, { query, filter }),
          count: async () => (await loaders.keyCountOf(id, filter)) ?? 0,
        })
      },
    },
    ApiKeyConnection,
  ),
)

builder.prismaObjectField(User, 'uploads', (t) =>
  t.prismaConnection(
    {
      type: Upload,
      cursor: 'id',
      nullable: true,
      description: 'The uploads of the user, newest first; only your own user has any that you may see.',
      resolve: (query, { id }, _args, { loaders }) => loaders.uploadsOfOwner(id, { query }),
      totalCount: async ({ id }, _args, { loaders }) => (await loaders.uploadCountOfOwner(id)) ?? 0,
    },
    UploadConnection,
  ),
)

builder.prismaObjectField(ApiKey, 'uploads', (t) =>
  t.prismaConnection(
    {
      type: Upload,
      cursor: 'id',
      nullable: true,
      description:
        'The uploads that were made with the key, newest first, as far as they belong to you. Null, with an error, for an API key that has neither the permission `UPLOAD` nor `ADMIN`.',
      resolve: (query, { id }, _args, { loaders }) => loaders.uploadsOfKey(id, { query }),
      totalCount: async ({ id }, _args, { loaders }) => (await loaders.uploadCountOfKey(id)) ?? 0,
    },
    UploadConnection,
  ),
)
