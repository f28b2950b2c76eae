import graphql from '@graphql-eslint/eslint-plugin'

const { '@graphql-eslint/naming-convention': naming, ...recommended } =
  graphql.configs['flat/schema-recommended'].rules
const [severity, { EnumValueDefinition, ...names }] = naming

/** The recommended rules for schemas. Each rule that is off or limited has its reason. */
export default [
  {
    files: ['**/*.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: 'schema.graphql' } },
    },
    rules: {
      ...recommended,
      // The values of ErrorReason are those of `extensions.code`, so that a client can compare the two.
      '@graphql-eslint/naming-convention': [
        severity,
        { ...names, 'EnumValueDefinition[parent.name.value!=ErrorReason]': EnumValueDefinition },
      ],
      // It wants an id in every type, and most types here are values, such as totals and pages. A test holds that an `id`
      // identifies its object.
      '@graphql-eslint/strict-id-in-types': 'off',
      // `User.username` is one word, and `Quota.quotaPeriod` has the name that it has everywhere else.
      '@graphql-eslint/no-typename-prefix': 'off',
    },
  },
]
