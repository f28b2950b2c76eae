import { type JsonObject, textOf } from '#core/base/values/json.ts'
import { errorWords } from './error-words.ts'

/** That a field is not wanted, whatever its value. */
const NOT_WANTED =
  /unknown|unrecogni[sz]ed|unexpected|unsupported|invalid|extra|additional|not (?:be )?(?:permitted|allowed|supported|accepted|recogni[sz]ed|valid)|no such|不支持|未知|多余|无效|不允许/i

/** Texts about messages name the role `user`. */
const OF_ROLES = /\broles?\b|\bmessages?\b|角色|消息/i

/**
 * Which of these top-level fields of a request an error says that it does not accept: by the path to it (`loc`, `param`), by a key
 * of a list of errors, or in a text.
 */
export function refusedFields(error: unknown, fields: readonly string[]): readonly string[] {
  const { objects, texts } = errorWords(error)
  return fields.filter((field) => hasPathTo(field, objects) || texts.some((text) => isNamed(field, text)))
}

/** Whether one of these errors is about a top-level field of the request. */
export function hasPathTo(field: string, errors: readonly JsonObject[]): boolean {
  return errors.some(({ loc, param, field: named, property }) =>
    [loc, param, named, property].some((path) => leadsTo(path, field)),
  )
}

/** A path such as `['body', 'user']`, `stream_options.include_usage` or `/user`. The role of a message is further inside. */
function leadsTo(path: unknown, field: string): boolean {
  const text = Array.isArray(path) ? path.filter((step) => typeof step === 'string').join('.') : textOf(path)
  const steps = text?.split(/[./]/).filter((step) => step !== '' && step !== 'body' && step !== '$') ?? []
  return steps[0] === field
}

/** A word with an underscore stands for the field alone; `user` must be marked as the name of one. */
function isNamed(field: string, text: string): boolean {
  if (!NOT_WANTED.test(text)) return false
  // Linear time: nothing is repeated in these patterns.
  if (field.includes('_')) return new RegExp(`\\b${field}\\b`).test(text)
  if (OF_ROLES.test(text)) return false
  const quoted = `["'\`“](?:body\\.)?${field}["'\`”]`
  const labelled = `(?:arguments?|parameters?|params?|fields?|propert(?:y|ies)|keys?|inputs?|参数|字段)(?: supplied| name)?\\s?:?\\s?${field}\\b`
  // Linear time: as above.
  return new RegExp(`${quoted}|\\b${labelled}|\\bbody\\.${field}\\b|^${field}\\b`, 'i').test(text)
}
