import type { ApiKey as ApiKeyRow } from '#generated/prisma/client.ts'
import { CREATE_API_KEY, RESET_USAGE, ROTATE_API_KEY, UPDATE_API_KEY } from '#resources/api-key-inputs.ts'
import { builder } from '../builder.ts'
import { formMutation, recordMutations } from '../resources/record-mutation.ts'
import { ApiKey } from './api-key.ts'

/** A key together with its new secret. */
const withFullKey = (name: string, description: string) =>
  builder.objectRef<{ key: ApiKeyRow; fullKey: string }>(name).implement({
    description,
    fields: (t) => ({
      apiKey: t.expose('key', { type: ApiKey, description: 'The record of the key.' }),
      fullKey: t.exposeString('fullKey', {
        description: 'The API key itself. It is shown only here, so store it now.',
      }),
    }),
  })

formMutation(withFullKey('CreateApiKeyPayload', 'A new API key, and the key itself.'), {
  name: 'createApiKey',
  description:
    'Creates an API key. Takes an access token of an administrator or a premium user; API keys cannot create API keys.',
  takes: CREATE_API_KEY.description,
  input: CREATE_API_KEY,
  call: ({ keys }, { caller, given, onLimit }) => keys.create(caller, given, onLimit),
})

const KEY_ID = ['keyId', 'The id of the key.'] as const
const mutation = recordMutations(ApiKey, 'apiKey', KEY_ID)

const TAKES = 'Takes an access token, or an API key with the permission `ADMIN`.'

mutation({
  name: 'updateApiKey',
  description: `Changes the name, the description, the expiry, the allowed agents and addresses or the limits of an API key, pauses it or lifts its pause. Only for its creator and administrators. ${TAKES}`,
  takes: 'The key and the fields to change. A field that is absent keeps its value.',
  input: UPDATE_API_KEY,
  returns: 'The key with the changes.',
  call: ({ keys }, { caller, id, given, onLimit }) => keys.update(caller, id, given, onLimit),
})

mutation({
  name: 'revokeApiKey',
  description: `Revokes an API key for good, from its next request on; its subscriptions end within a second. Its record is kept, and the first revocation sets its time. Only for its owner, its creator and administrators. ${TAKES}`,
  takes: 'The API key to revoke.',
  returns: 'The revoked key.',
  call: ({ keys }, { caller, id }) => keys.revoke(caller, id),
})

formMutation(
  withFullKey('RotateApiKeyPayload', 'An API key with another secret, and the secret.'),
  {
    name: 'rotateApiKey',
    description:
      'Gives an API key another secret. The id, the limits, the usage and the history stay, and the secret before can be used until the overlap ends. While it can be used, another rotation is refused with `ROTATION_PENDING`, unless the newest secret was never used or the overlap is 0. Takes an access token of an administrator, or of a premium user who owns the key; API keys cannot make secrets.',
    takes: 'The API key, and how long the secret before its new one can still be used.',
    input: ROTATE_API_KEY,
    call: ({ keys }, { caller, id, given, onLimit }) => keys.rotate(caller, id, given, onLimit),
  },
  KEY_ID,
)

mutation({
  name: 'endPreviousApiKeySecret',
  description: `Ends the overlap of a rotation: from its next request on, the secret before the present one is refused. The present secret and running calls go on. Without such a secret it changes nothing. Only for its owner, its creator and administrators. ${TAKES}`,
  takes: 'The API key whose previous secret to end.',
  returns: 'The key with its present secret.',
  call: ({ keys }, { caller, id }) => keys.endPreviousSecret(caller, id),
})

mutation({
  name: 'resetApiKeyUsage',
  description: `Sets a call counter of an API key to zero. Reports and the list of calls keep the calls. Only for its creator and administrators. ${TAKES}`,
  takes: 'The API key and the counter to set to zero.',
  input: RESET_USAGE,
  returns: 'The key with its counters.',
  call: ({ keys }, { caller, id, given: { period }, onLimit }) =>
    keys.resetUsage(caller, id, period, onLimit),
})
