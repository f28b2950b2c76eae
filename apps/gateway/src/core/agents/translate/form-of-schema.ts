import type { PauseField } from '#core/agents/pause.ts'
import { isObject, type JsonObject, listOf, objectOf, parseJson, textOf } from '#core/base/values/json.ts'

/** The form that a JSON schema of an object describes, which may be sent as a text; empty if it describes none. */
export function formOfSchema(given: unknown): readonly PauseField[] {
  const schema = objectOf(typeof given === 'string' ? parseJson(given) : given)
  const required = new Set(listOf(schema.required))
  return Object.entries(objectOf(schema.properties)).map(([name, field]) =>
    fieldOf(name, objectOf(field), required.has(name)),
  )
}

function fieldOf(name: string, schema: JsonObject, required: boolean): PauseField {
  const { title, description, default: preset } = schema
  const label = textOf(title) ?? textOf(description)
  const options = listOf(schema.enum).filter((each) => typeof each === 'string')
  return {
    name,
    type: options.length > 0 ? 'select' : typeOf(schema),
    required,
    ...(label !== undefined && { label }),
    ...(options.length > 0 && { options }),
    ...(preset !== undefined && !isObject(preset) && { default: preset }),
  }
}

/** What has no kind of field of its own is a text. */
function typeOf({ type }: JsonObject): PauseField['type'] {
  const types = [type].flat()
  if (types.includes('boolean')) return 'checkbox'
  return types.includes('number') || types.includes('integer') ? 'number' : 'text'
}
