import { readFileSync } from 'node:fs'
import type { CodegenConfig } from '@graphql-codegen/cli'
import { parse, print, visit } from 'graphql'
import { columnFragments } from './apps/console/scripts/write-lists.ts'

/** The types of the scalars. A front end of your own needs the same. */
const types = {
  importExtension: '.ts',
  useTypeImports: true,
  strictScalars: true,
  scalars: {
    DateTime: 'string',
    JSON: 'unknown',
    JSONObject: 'Record<string, unknown>',
    SafeInt: 'number',
  },
} as const

/** Documents for Apollo Client, urql and others that take a `TypedDocumentNode`. */
const documentNodes = {
  preset: 'client',
  presetConfig: { fragmentMasking: false },
  config: types,
} as const

/** Documents as texts, for `fetch`, graphql-sse and `@trunkline/sdk`. */
const documentStrings = {
  preset: 'client',
  presetConfig: {
    fragmentMasking: false,
    // Writes persisted-documents.json, the documents that a gateway with `graphql.documents: trusted` executes.
    persistedDocuments: { hashAlgorithm: 'sha256' },
  },
  config: { ...types, documentMode: 'string' },
} as const

const schema = 'schema.graphql'

/** The schema without what it says to people: for the console that stands in schema.graphql alone. */
const bareSchema = () =>
  print(
    visit(parse(readFileSync(new URL(schema, import.meta.url), 'utf8')), {
      enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
    }),
  )

/** Generates the types of the documents of the examples and of the console. */
const config: CodegenConfig = {
  ignoreNoDocuments: true,
  generates: {
    'examples/react/generated/': {
      ...documentNodes,
      schema,
      documents: ['examples/react/*.ts', 'examples/react/chats/*.ts'],
    },
    // Which types belong to an interface or a union, for the cache of Apollo Client.
    'examples/react/generated/possible-types.ts': {
      schema,
      plugins: ['fragment-matcher'],
      config: { apolloClientVersion: 3 },
    },
    'examples/generated/': {
      ...documentStrings,
      schema,
      documents: ['examples/*.ts', 'examples/usage-page/*.ts'],
    },
    'apps/console/src/generated/': {
      ...documentStrings,
      schema: bareSchema(),
      documents: ['apps/console/src/**/*.graphql', columnFragments()],
    },
  },
}

export default config
