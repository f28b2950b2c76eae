/*
 * Which files of `test/` run where. `pnpm test` runs the essential ones, `pnpm test:rest` all the others and, on PostgreSQL,
 * these once more.
 */

/**
 * What every change must pass: that the project works, on the embedded database and without any service or browser, and that
 * its contract is what the code says.
 */
export const ESSENTIAL: readonly string[] = [
  'test/conformance/conformance.test.ts',
  'test/contract/suites.test.ts',
  'test/contract/folder-sizes.test.ts',
  'test/contract/functions-of-a-chat.test.ts',
  'test/contract/import-direction.test.ts',
  'test/contract/openapi.test.ts',
  'test/contract/patterns.test.ts',
  'test/contract/reference-pages.test.ts',
  'test/contract/sdk-types.test.ts',
  'test/contract/shared-descriptions.test.ts',
  'test/docs/docs.test.ts',
  'test/docs/names.test.ts',
  'test/e2e/first-chat.test.ts',
  'test/e2e/kill-9.test.ts',
  'test/e2e/limits-and-quota.test.ts',
  'test/e2e/revocation.test.ts',
  'test/e2e/uploads.test.ts',
  'test/graphql/audits.test.ts',
  'test/graphql/usage-updated.test.ts',
  'test/sdk/chat-stream.test.ts',
  'test/sdk/contract.test.ts',
  'test/sdk/gateway-streams.test.ts',
  'test/sdk/recorded.test.ts',
  'test/sdk/stream-reader-differences.test.ts',
  'test/sdk/stream-reader.test.ts',
]

/**
 * Files that run on the embedded database even where there is a PostgreSQL server, and on that as well, because each kind of
 * database is part of what they test. All others run once.
 */
export const ON_EMBEDDED_TOO: readonly string[] = [
  // Opening, locking and surviving: an embedded database has one owner and no server.
  'test/database/hot-path.test.ts',
  'test/database/killed-process.test.ts',
  'test/e2e/first-chat.test.ts',
  'test/packages/start.test.ts',
  'test/e2e/kill-9.test.ts',
  'test/scale/kill.test.ts',
  'test/scale/restore-embedded.test.ts',
  'apps/gateway/src/core/database/migrations/migrate.server.test.ts',
  // Admission, quotas and the watch of keys: the same statements, through another driver.
  'test/e2e/limits-and-quota.test.ts',
  'test/e2e/revocation.test.ts',
  'test/graphql/usage-updated.test.ts',
  // Reads take turns with calls on the one connection.
  'test/e2e/reports-beside-chats.test.ts',
  // Files are on the local disk, which is swept together with their rows.
  'test/e2e/uploads-interrupted.test.ts',
  'test/e2e/uploads.test.ts',
]

/** Files that run on the embedded database alone, because its directory is their subject, or because it is the harder case. */
export const ON_EMBEDDED_ALONE: readonly string[] = [
  // A running gateway carries out the commands, since it owns the database.
  'test/e2e/command-line.test.ts',
  'test/e2e/operators-mistakes.test.ts',
  // The database is closed with the process; `test/scale` has the drain and kept calls on a server.
  'test/e2e/drain.test.ts',
  'test/e2e/kept-calls.test.ts',
  'test/e2e/small-disk.test.ts',
  'test/e2e/upload-files-served.test.ts',
]

/** Files that name a database or a data directory too, but test what is the same for both kinds: they run once, on either. */
export const ON_EITHER: readonly string[] = [
  'test/e2e/config-check.test.ts',
  'test/e2e/configuration.test.ts',
  'test/e2e/ends-with-key.test.ts',
  'test/e2e/log-lines.test.ts',
  'test/e2e/metrics.test.ts',
  'test/e2e/upload-storage-faults.test.ts',
  'test/packages/trunkline.test.ts',
]

/**
 * Tests whose cases are a product, such as every field for every caller, or every guarantee for every dialect of a platform.
 * `test` runs a sample of the cases (`sampled.ts`), and `test:rest` all of them.
 */
export const EXHAUSTIVE: readonly string[] = [
  'apps/gateway/src/core/lists/ordered-lists.server.test.ts',
  'apps/gateway/src/graphql/mistakes/no-values.test.ts',
  'apps/gateway/src/graphql/reads/aliases.test.ts',
  'apps/gateway/src/graphql/reads/statements.test.ts',
  'apps/gateway/test/graphql/matrix.test.ts',
  'packages/sdk/src/hidden-credentials.test.ts',
  'test/conformance/conformance.test.ts',
]

/** Files that name a database or a data directory too, and of which no test runs without a PostgreSQL server. */
export const ON_SERVER_ALONE: readonly string[] = [
  'test/deploy/compose.test.ts',
  'test/deploy/image.test.ts',
  'test/e2e/keys-that-live-long.test.ts',
  'test/graphql/with-server.test.ts',
  'test/monitoring/dashboard.test.ts',
  'test/scale/clock-skew.test.ts',
  'test/scale/conversation-outage.test.ts',
  'test/scale/conversations.test.ts',
  'test/scale/deployments-seen.test.ts',
  'test/scale/deployments-database.test.ts',
  'test/scale/dump-and-restore.test.ts',
  'test/scale/erasure.test.ts',
  'test/scale/full-database-disk.test.ts',
  'test/scale/pgbouncer.test.ts',
  'test/scale/unwritable-database.test.ts',
  'test/scale/kept-calls.test.ts',
  'test/scale/kept-transcripts.test.ts',
  'test/scale/reload.test.ts',
  'test/scale/locked-tables.test.ts',
  'test/scale/outages.test.ts',
  'test/scale/redis-outage.test.ts',
  'test/scale/replicas.test.ts',
  'test/scale/rolling-restarts.test.ts',
  'test/scale/secret-rotation.test.ts',
  'test/scale/stopped-calls.test.ts',
  'test/scale/transfer.test.ts',
  'test/scale/two-versions.test.ts',
  'test/scale/uploads-replicas.test.ts',
  'test/scale/workers.test.ts',
]

const CORE = 'apps/gateway/src/core'
const CLIENTS = 'test/clients'

/** These files of a folder depend on these paths. */
function heavy(folder: string, names: readonly string[], ...paths: readonly string[]) {
  return Object.fromEntries(names.map((name) => [`${folder}/${name}.test.ts`, paths]))
}

/**
 * Files that take long, and whose subject depends on a part of the sources: the paths of that part, from the root of the
 * repository. `test:ci` runs them if anything there has changed since they passed (`proven-files.ts`), `test:rest` always.
 */
export const HEAVY: Readonly<Record<string, readonly string[]>> = {
  // What clients of others accept of the two faces that are theirs.
  ...heavy(
    `${CLIENTS}/openai`,
    [
      'agents-with-tools',
      'ai-sdk',
      'claude-code-router',
      'codex',
      'completions-clients',
      'kept-streams',
      'langchain',
      'litellm',
      'openai',
      'responses-clients',
      'responses-compliance',
      'responses-tools',
      'two-turns',
    ],
    ...[CLIENTS, 'apps/gateway/src/openai', 'apps/gateway/src/http', `${CORE}/calls`, `${CORE}/reply-log`],
  ),
  ...heavy(
    `${CLIENTS}/graphql`,
    ['apollo-cache', 'examples', 'react-pages', 'relay', 'usage-page'],
    ...[CLIENTS, 'apps/gateway/src/graphql', 'examples'],
  ),
  // What is published, in the runtimes and compilers that it promises.
  ...heavy(
    `${CLIENTS}/packages`,
    ['published-files', 'sandbox-in-runtimes', 'sdk-in-runtimes', 'typescript'],
    ...[CLIENTS, 'packages'],
  ),
  ...heavy(
    `${CLIENTS}/sdk`,
    ['ai-sdk', 'examples', 'graphql', 'kept-chat-page', 'plain-chat-page'],
    ...[CLIENTS, 'packages/sdk', 'examples', 'docs/ai-sdk.md', 'docs/pauses.md', `${CORE}/reply-log`],
  ),
  ...heavy('test/packages', ['install'], 'packages', 'package.json', 'pnpm-workspace.yaml', 'scripts'),
  ...heavy(
    'test/deploy',
    ['compose', 'image'],
    ...['deploy', 'packages/trunkline', 'apps/gateway/src/process', 'apps/gateway/src/server'],
  ),
  // Backups and moves between databases and storages.
  ...heavy(
    'test/scale',
    ['dump-and-restore', 'transfer'],
    ...['prisma', 'apps/gateway/src/cli', `${CORE}/database`, `${CORE}/uploads`],
  ),
  // Poolers, full and unwritable disks, secrets: how a process holds its database.
  ...heavy(
    'test/scale',
    ['full-database-disk', 'pgbouncer', 'secret-rotation', 'unwritable-database'],
    ...['prisma', 'apps/gateway/src/process', `${CORE}/accounts/auth`, `${CORE}/database`, `${CORE}/ledger`],
  ),
  ...heavy(
    'test/scale',
    ['storage-faults', 'storage-outage', 'uploads-replicas'],
    ...[`${CORE}/uploads`, `${CORE}/calls/receiving`],
  ),
  ...heavy('test/scale', ['name-server-outage'], `${CORE}/agents/upstream`, `${CORE}/base`),
  ...heavy('test/scale', ['kept-transcripts'], `${CORE}/agents`, `${CORE}/reply-log`),
  ...heavy(
    'test/scale',
    ['erasure'],
    ...[`${CORE}/erasure`, `${CORE}/conversations`, `${CORE}/calls/conversation`, `${CORE}/ledger`],
  ),
}
