import Type from 'typebox'
import {
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  passwordProblem,
} from '#core/accounts/users/user-rules.ts'
import { oneOf, section, text } from '#core/agents/entry-schema.ts'
import { count, httpUrl, isHost, isUrlOf, matching, port } from './setting-types.ts'
import { TRACE_VARIABLES } from './trace-variables.ts'

const WORKERS_MAX = 256

/** The environment variables that are read in addition to `GATEWAY_CONFIG`. */
export const Environment = section({
  // Any other text is refused: where `Production` or `prod` was written, the start would otherwise be that of a sandbox.
  NODE_ENV: oneOf(['development', 'test', 'production'], {
    default: 'development',
    description:
      '`production` requires a configuration file, `DATABASE_URL` or `DATA_DIR`, migrations run by hand and a password for the first administrator.',
  }),
  HOST: matching('an IP address or a host name, without a port', isHost, {
    default: '127.0.0.1',
    description: 'The address to listen on; `0.0.0.0` in a container.',
  }),
  PORT: port({ default: 8080, description: 'The port to listen on; `0` chooses a free one.' }),
  PUBLIC_URL: Type.Optional(
    httpUrl({
      description:
        'The URL under which clients reach the gateway. The URLs of uploaded files begin with it, unless they are in S3.',
      whenAbsent: '`http://HOST:PORT`',
      examples: ['https://gateway.example.com'],
    }),
  ),
  OPS_PORT: Type.Optional(
    port({
      description:
        'A separate port for `/healthz`, `/readyz` and `/metrics`, which stays open while the gateway drains.',
      whenAbsent: 'the same as `PORT`',
    }),
  ),
  DATA_DIR: text({
    default: '.data',
    description:
      'The directory of the embedded database, its lock and the socket of the command line, and of uploaded files if there is no `S3_BUCKET`.',
  }),
  DATABASE_URL: Type.Optional(
    matching('a postgres:// URL', (url) => isUrlOf(['postgres:', 'postgresql:'], url), {
      secret: true,
      description: 'The PostgreSQL server to use; a connection pooler in between must keep sessions.',
      whenAbsent: 'the embedded database',
    }),
  ),
  REDIS_URL: Type.Optional(
    matching('a redis:// or rediss:// URL', (url) => isUrlOf(['redis:', 'rediss:'], url), {
      secret: true,
      description:
        'The Redis server through which processes share rate limits, and tell each other what is new of kept calls. Without it each process enforces its share of the limits.',
    }),
  ),
  SECRET_KEY: Type.Optional(
    matching('at least 32 characters', (key) => key.length >= 32, {
      secret: true,
      description:
        'Encrypts the keys that sign access tokens, and kept replies. Without it they are stored unencrypted.',
    }),
  ),
  SECRET_KEY_PREVIOUS: Type.Optional(
    matching('at least 32 characters', (key) => key.length >= 32, {
      secret: true,
      description:
        'Reads, but never encrypts. While `SECRET_KEY` is changed it is the other of the two keys: [production.md](production.md#rotating-secret_key) has the steps.',
    }),
  ),
  ADMIN_USERNAME: matching(
    '3 to 64 letters, digits and . _ - @',
    (name) => normalizeUsername(name) !== undefined,
    { default: 'admin', description: 'The name of the administrator that the first start creates.' },
  ),
  ADMIN_PASSWORD: Type.Optional(
    matching(
      `${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`,
      (password) => passwordProblem(password) === undefined,
      {
        secret: true,
        description: 'The password of that administrator. Required in production until a user exists.',
        whenAbsent: 'random, printed once',
      },
    ),
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'The least serious lines that are logged. The log is JSON lines on standard output.',
  }),
  WORKERS: count(1, {
    maximum: WORKERS_MAX,
    description: 'The number of processes on this machine; more than one needs `DATABASE_URL`.',
  }),
  S3_BUCKET: Type.Optional(
    text({ description: 'The bucket for uploaded files.', whenAbsent: 'files are stored in `DATA_DIR`' }),
  ),
  S3_ENDPOINT: Type.Optional(
    httpUrl({ description: "The URL of another server with S3's API.", whenAbsent: 'AWS' }),
  ),
  S3_REGION: Type.Optional(
    text({
      description: 'The region of the bucket; with `S3_ENDPOINT` the default is `us-east-1`.',
      whenAbsent: 'as AWS tools',
    }),
  ),
  S3_PUBLIC_URL: Type.Optional(
    httpUrl({
      description:
        'Where everybody can read the files of the bucket, such as a CDN. Needed if files live longer than 7 days.',
      whenAbsent: 'pre-signed URLs',
    }),
  ),
  ...TRACE_VARIABLES,
})
