import { Refusal } from '../serving/answer.ts'
import { asRecord, asText } from '../serving/narrow.ts'
import { invalidRequest, type OpenAiFlavour, openAiRefusal } from './errors.ts'
import { sampleValue } from './sample-value.ts'

/** What a model gives in a format: the answer as it is for text, or JSON, which is a value of the schema if there is one. */
export type Formatting = (answer: string) => string

/**
 * Reads `response_format`.
 *
 * @throws Refusal as OpenAI refuses a format that is not complete
 */
export function readFormat(flavour: OpenAiFlavour, value: unknown): Formatting | undefined {
  const { type, json_schema } = asRecord(value)
  if (type === 'json_object') return (answer) => JSON.stringify({ answer })
  if (type !== 'json_schema') return undefined
  const { name, schema } = asRecord(json_schema)
  for (const [field, given] of [
    ['name', asText(name)],
    ['schema', schema],
  ]) {
    if (!given)
      throw new Refusal(
        openAiRefusal(
          flavour,
          invalidRequest(`Missing required parameter: 'response_format.json_schema.${field}'.`),
        ),
      )
  }
  return () => JSON.stringify(sampleValue(asRecord(schema)))
}
