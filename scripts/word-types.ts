import { buildSchema, isEnumType } from 'graphql'

/** The enums of which REST has no such words, or more than these. */
const OTHERS = ['ErrorReason', 'PauseFieldType', 'UsageGroupOrder']

/**
 * The types of `packages/sdk/src/generated/words.ts`: the words of REST under the names that their enums have in GraphQL. Those that
 * `openapi.json` calls extensible are known words, or any that a newer gateway has.
 */
export function wordTypes(schema: string, openapi: string): string {
  const extensible = new Set(
    [...openapi.matchAll(/"x-extensible-enum": (\[[^\]]*\])/g)].map(([, words = '']) =>
      keyOf(JSON.parse(words)),
    ),
  )
  const types = Object.values(buildSchema(schema).getTypeMap()).flatMap((type) => {
    if (!isEnumType(type) || type.name.startsWith('__') || OTHERS.includes(type.name)) return []
    const words = type.getValues().flatMap(({ name }) => (name === 'OTHER' ? [] : name.toLowerCase()))
    const texts = words.map((word) => `'${word}'`)
    const all = extensible.has(keyOf(words)) ? [...texts, '(string & {})'] : texts
    return [`/** ${type.description} */`, `export type ${type.name} = ${all.join(' | ')}`]
  })
  return [
    '// Generated from schema.graphql and openapi.json by `pnpm contract`. Do not edit.',
    ...types,
    '',
  ].join('\n')
}

function keyOf(words: readonly string[]): string {
  return [...words].sort().join()
}
