/**
 * Which part of the code may import which. Each rule is broken once by a file of test/fixtures/import-direction, and a
 * test checks that it is reported.
 *
 *   core ← http ← {rest, openai, graphql, console}
 *   http ← {records, resources} ← {rest, process}, and resources ← {graphql, cli}
 *   core ← ops
 *   {config, core, ops} ← composition ← server ← process ← cli, and server mounts the faces
 */
const SRC = '^apps/gateway/src'

/** Folders of the gateway's sources, as one pattern; `except` are those that may be imported. */
const ALL = [
  'cli',
  'composition',
  'config',
  'console',
  'core',
  'graphql',
  'http',
  'openai',
  'ops',
  'process',
  'resources',
  'rest',
  'server',
]
const allExcept = (...except) => `${SRC}/(${ALL.filter((folder) => !except.includes(folder)).join('|')})/`
/** Where the parts of a gateway are put together, which is all that others need of `composition`. */
const BUILT_GATEWAY = `${SRC}/composition/gateway\\.ts$`
const packageNamed = (names) => `(^|node_modules/)(${names})(/|$)`
const WEB_FRAMEWORKS = packageNamed('fastify|@fastify/[^/]+|graphql|graphql-yoga|graphql-sse|@pothos/[^/]+')

const TESTS = '\\.test(-support)?\\.tsx?$'

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** A face and what it may import beside core, http and itself. */
const face = (folder, ...more) =>
  rule(
    `${folder}-is-a-face`,
    'A face parses, calls one service method and shapes the result: it imports core and http, and no other face.',
    { path: `${SRC}/${folder}/` },
    { path: allExcept('core', 'http', folder, ...more) },
  )

/** The rooms of core, from the ground. Each README says what its room decides. */
const FLOORS = [
  ['base'],
  ['requests'],
  ['database', 'agents'],
  ['limits', 'ledger'],
  ['lists', 'audit'],
  ['accounts', 'uploads', 'configuration'],
  ['reports', 'reply-log', 'refusals'],
  ['calls'],
  ['conversations'],
  ['erasure'],
  ['services'],
]

module.exports = {
  forbidden: [
    rule(
      'core-stands-alone',
      'Core knows no face, no server, no configuration and no process.',
      { path: `${SRC}/core/` },
      { path: allExcept('core') },
    ),
    rule(
      'core-without-web-frameworks',
      'Core serves every face, so it knows the framework of none.',
      { path: `${SRC}/core/` },
      { path: WEB_FRAMEWORKS },
    ),
    rule(
      'agents-translate-and-transport',
      'core/agents knows nothing of accounts, limits or the ledger: only core/calls composes them.',
      { path: `${SRC}/core/agents/` },
      { path: `${SRC}/core/(?!agents/|base/|requests/)[^/]+/` },
    ),
    rule(
      'a-platform-stands-alone',
      'A platform is a pure translation: it imports the seam and core/agents/translate, no other platform and no transport.',
      { path: `${SRC}/core/agents/platforms/([^/]+)/` },
      { path: `${SRC}/core/agents/(platforms|upstream)/`, pathNot: `${SRC}/core/agents/platforms/$1/` },
    ),
    rule(
      'what-platforms-share',
      'core/agents/translate serves all platforms and names none.',
      { path: `${SRC}/core/agents/translate/` },
      { path: `${SRC}/core/agents/(platforms|upstream)/` },
    ),
    rule(
      'transport-knows-no-platform',
      'core/agents/upstream moves bytes and events; what they mean is said by the platform.',
      { path: `${SRC}/core/agents/upstream/` },
      { path: `${SRC}/core/agents/(platforms|translate)/` },
    ),
    rule(
      'values-stand-alone',
      'core/base/values is what everything may use, so it uses nothing of ours.',
      { path: `${SRC}/core/base/values/` },
      { path: SRC, pathNot: `${SRC}/core/base/values/` },
    ),
    rule(
      'async-knows-no-trade',
      'core/base/async waits, repeats and shares work of any kind.',
      { path: `${SRC}/core/base/async/` },
      { path: `${SRC}/core/(?:base/errors|[^/]+)/`, pathNot: `${SRC}/core/base/(?!errors/)` },
    ),
    ...FLOORS.map((rooms, floor) =>
      rule(
        'core-has-floors',
        'A room of core imports rooms of the floors below it, and none of its own floor or above.',
        { path: `${SRC}/core/(${rooms.join('|')})/` },
        { path: `${SRC}/core/(${FLOORS.slice(floor).flat().join('|')})/`, pathNot: `${SRC}/core/$1/` },
      ),
    ),
    rule(
      'storage-knows-no-upload',
      'A storage keeps bytes under an address; who may use them is said outside.',
      { path: `${SRC}/core/uploads/(storage|content)/` },
      { path: `${SRC}/core/uploads/[^/]+$` },
    ),
    rule(
      'http-serves-every-face',
      'http holds what all faces stand on, so it knows none of them.',
      { path: `${SRC}/http/` },
      { path: allExcept('core', 'http') },
    ),
    rule(
      'resources-are-no-face',
      'Every face is made of the definitions of resources, so they know none.',
      { path: `${SRC}/resources/` },
      { path: allExcept('core', 'http', 'resources') },
    ),
    face('rest', 'resources'),
    face('openai'),
    face('graphql', 'resources'),
    face('console'),
    rule(
      'ops-watches-core',
      'ops reports on core; it knows no face and no configuration.',
      { path: `${SRC}/ops/` },
      { path: allExcept('core', 'ops') },
    ),
    rule(
      'config-is-read-first',
      'The configuration is parsed before anything of it is built.',
      { path: `${SRC}/config/` },
      { path: allExcept('config', 'core') },
    ),
    rule(
      'command-line-parses-and-prints',
      'The command line parses what the definitions of resources say and prints: what a command does is in process/, where a running gateway finds it as well.',
      { path: `${SRC}/cli/` },
      { path: allExcept('cli', 'config', 'core', 'process', 'resources') },
    ),
    rule(
      'process-knows-no-command-line',
      'A gateway starts without arguments to parse. Its commands write the records that REST writes.',
      { path: `${SRC}/process/` },
      { path: `${SRC}/(cli|composition|http|rest|openai|graphql)/`, pathNot: BUILT_GATEWAY },
    ),
    rule(
      'server-mounts-the-faces',
      'The server puts guards and faces together; the process starts it.',
      { path: `${SRC}/server/` },
      { path: `${SRC}/(cli|composition|process|records|resources)/`, pathNot: BUILT_GATEWAY },
    ),
    rule(
      'gateway-knows-no-http',
      'The services are built without the server that offers them.',
      { path: `${SRC}/composition/` },
      { path: allExcept('composition', 'config', 'core', 'ops') },
    ),
    rule(
      'sandbox-knows-no-gateway',
      'An emulator that shared code with the gateway would share its mistakes.',
      { path: '^packages/sandbox/' },
      { path: `^apps/|${packageNamed('@trunkline/gateway|@trunkline/sdk')}` },
    ),
    rule(
      'sandbox-is-loaded-by-the-process',
      'A configured gateway never loads the emulators.',
      { path: SRC, pathNot: `${SRC}/process/` },
      { path: `(^|/)packages/sandbox/|${packageNamed('@trunkline/sandbox')}` },
    ),
    rule(
      'sdk-stands-on-the-contract',
      'A client that shared code with the gateway would agree with it by construction.',
      { path: '^packages/sdk/' },
      { path: `^(apps|packages/sandbox)/|${packageNamed('@trunkline/gateway|@trunkline/sandbox')}` },
    ),
    rule(
      'console-talks-through-the-sdk',
      'The console is a client like any other: what it needs of the gateway is part of the API and of the SDK.',
      { path: '^apps/console/' },
      {
        path: `(^|/)(apps/gateway|packages/sandbox)/|${packageNamed('@trunkline/gateway|@trunkline/sandbox')}`,
      },
    ),
    rule(
      'gateway-serves-a-built-console',
      'The gateway serves the files of a build. It runs without the sources of the console.',
      { path: SRC },
      { path: `^apps/console/|${packageNamed('@trunkline/console')}` },
    ),
    rule('product-without-tests', 'Tests and their helpers are no part of the product.', {}, { path: TESTS }),
    rule(
      'no-circular-imports',
      'Files that import each other cannot be read one after the other.',
      {},
      { circular: true },
    ),
    {
      ...rule(
        'no-circular-folders',
        'Folders that import each other are one folder.',
        { path: '^(apps/gateway|packages/[^/]+)/src/.+' },
        { circular: true },
      ),
      scope: 'folder',
    },
    rule(
      'imports-resolve',
      'An import that is not found escapes every other rule.',
      {},
      { couldNotResolve: true },
    ),
  ],
  options: {
    // TypeScript 7 has no API that dependency-cruiser could parse with.
    parser: 'swc',
    tsPreCompilationDeps: true,
    // Tests may import whatever they test. They are neither read nor left out, so that an import of one is reported.
    doNotFollow: { path: `node_modules|${TESTS}` },
    exclude: { path: '/generated/|^(apps|packages)/[^/]+/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@trunkline/source', 'import', 'node', 'default'],
    },
  },
}
