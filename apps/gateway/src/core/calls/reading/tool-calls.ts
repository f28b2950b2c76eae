import { type JsonObject, objectOf } from '#core/base/values/json.ts'

const TOOL_CALLS_MAX = 128

/** A tool call in the format of OpenAI's API, including any other fields that the platform sends. */
export interface ToolCall {
  readonly function?: JsonObject
  readonly [field: string]: unknown
}

/** Assembles streamed tool calls. The deltas of one call share its index, and its arguments arrive in fragments. */
export class ToolCalls {
  readonly #list: ToolCall[] = []

  get list(): readonly ToolCall[] {
    return this.#list
  }

  add(deltas: readonly unknown[]): void {
    for (const delta of deltas) {
      const { index = this.#list.length, function: part, ...fields } = objectOf(delta)
      // The index comes from the platform and must not determine the size of this array.
      if (typeof index !== 'number' || !Number.isInteger(index)) continue
      if (index < 0 || index >= TOOL_CALLS_MAX) continue
      const known = this.#list[index] ?? {}
      this.#list[index] = {
        ...known,
        ...fields,
        ...(part !== undefined && { function: joined(known.function, objectOf(part)) }),
      }
    }
  }
}

function joined(known: JsonObject | undefined, part: JsonObject): JsonObject {
  const written = [known?.arguments, part.arguments].filter((piece) => typeof piece === 'string')
  return { ...known, ...part, arguments: written.join('') }
}
