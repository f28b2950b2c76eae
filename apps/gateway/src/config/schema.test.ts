import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { PLATFORMS } from '#core/agents/registry.ts'
import { Environment } from './environment.ts'
import { configFileOf } from './schema.ts'

/** Every schema within a schema, itself included. */
function* within(schema: TSchema): Generator<TSchema> {
  yield schema
  const {
    properties = {},
    patternProperties = {},
    items,
  } = schema as {
    readonly properties?: Record<string, TSchema>
    readonly patternProperties?: Record<string, TSchema>
    readonly items?: TSchema
  }
  for (const inner of Object.values({ ...properties, ...patternProperties })) yield* within(inner)
  if (items !== undefined) yield* within(items)
}

test('the examples of the reference are values that the configuration accepts', () => {
  const own = PLATFORMS.adapters.flatMap(({ entry }) => [entry.agent, entry.app])
  const schemas = [configFileOf(PLATFORMS), Environment, ...own].flatMap((schema) => [...within(schema)])
  const examples = schemas.flatMap((schema) => {
    const { examples = [] } = schema as { readonly examples?: readonly unknown[] }
    return examples.map((example) => ({ schema, example }))
  })
  expect(examples.length).toBeGreaterThan(5)
  for (const { schema, example } of examples) expect(Value.Check(schema, example), String(example)).toBe(true)
})
