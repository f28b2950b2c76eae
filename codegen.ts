import type { CodegenConfig } from '@graphql-codegen/cli'

/** How the typed documents of a folder are generated. A front end of your own needs the same. */
const typedDocuments = {
  preset: 'client',
  presetConfig: {
    fragmentMasking: false,
    // Writes persisted-documents.json, the documents that a gateway with `graphql.documents: trusted` executes.
    persistedDocuments: { hashAlgorithm: 'sha256' },
  },
  config: {
    documentMode: 'string',
    importExtension: '.ts',
    useTypeImports: true,
    strictScalars: true,
    scalars: {
      DateTime: 'string',
      JSON: 'unknown',
      JSONObject: 'Record<string, unknown>',
      SafeInt: 'number',
    },
  },
} as const

/** Generates the types of the documents of the examples and of the console. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  ignoreNoDocuments: true,
  generates: {
    'examples/generated/': {
      ...typedDocuments,
      documents: ['examples/*.ts', 'examples/usage-page/*.ts'],
    },
    'apps/console/src/generated/': { ...typedDocuments, documents: 'apps/console/src/**/*.graphql' },
  },
}

export default config
