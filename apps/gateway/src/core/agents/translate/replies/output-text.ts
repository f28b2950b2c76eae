import { type JsonObject, textOf, toJson } from '#core/base/values/json.ts'

/**
 * The answer of a workflow that has only outputs. Authors name them freely: returns a usual one, else all strings, else
 * everything as JSON.
 */
export function outputText(outputs: JsonObject): string | undefined {
  const texts = Object.values(outputs).filter((value) => textOf(value) !== undefined)
  const usual = [outputs.text, outputs.output, outputs.answer].find((value) => textOf(value) !== undefined)
  const isEmpty = Object.values(outputs).every((value) => value === null || value === '')
  return textOf(textOf(usual) ?? (texts.length > 0 || isEmpty ? texts.join('\n\n') : toJson(outputs)))
}
