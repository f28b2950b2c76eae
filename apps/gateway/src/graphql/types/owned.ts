import { API_KEY_DESCRIPTIONS } from '#http/descriptions/api-key-descriptions.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { ApiKey, ApiKeyConnection } from './api-key.ts'
import { Upload, UploadConnection } from './upload.ts'
import { User } from './user.ts'

/* The lists of what belongs to a user or a key: relations in the direction that would make the types import each other. */

const active = {
  description: API_KEY_DESCRIPTIONS.onlyActive,
}

builder.prismaObjectField(User, 'apiKeys', (t) =>
  t.prismaConnection(
    {
      type: ApiKey,
      cursor: 'id',
      nullable: true,
      description: 'The API keys that belong to the user, newest first.',
      args: { active: t.arg.boolean(active) },
      resolve: (query, { id }, { active }, { loaders }) =>
        loaders.keysOf(id, { query, filter: withoutNulls({ active }) }),
      totalCount: async ({ id }, { active }, { loaders }) =>
        (await loaders.keyCountOf(id, withoutNulls({ active }))) ?? 0,
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
      resolve: (query, { id: ownerId }, _args, context) =>
        context.services.uploads.list(callerOf(context), query, { ownerId }),
      totalCount: ({ id: ownerId }, _args, context) =>
        context.services.uploads.count(callerOf(context), { ownerId }),
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
      resolve: (query, { id }, _args, { loaders }) => loaders.uploadsOf(id, { query }),
      totalCount: async ({ id }, _args, { loaders }) => (await loaders.uploadCountOf(id)) ?? 0,
    },
    UploadConnection,
  ),
)
