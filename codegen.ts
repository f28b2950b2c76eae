import type { CodegenConfig } from '@graphql-codegen/cli'

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

/** Generates the types of the documents of the examples and of the console. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  ignoreNoDocuments: true,
  generates: {
    'examples/react/generated/': { ...documentNodes, documents: 'examples/react/*.ts' },
    // Which types belong to an interface or a union, for the cache of Apollo Client.
    'examples/react/generated/possible-types.ts': {
      plugins: ['fragment-matcher'],
      config: { apolloClientVersion: 3 },
    },
    'examples/generated/': {
      ...documentStrings,
      documents: ['examples/*.ts', 'examples/usage-page/*.ts'],
    },
    'apps/console/src/generated/': { ...documentStrings, documents: 'apps/console/src/**/*.graphql' },
  },
}

export default config
