import { type ConfigIssue, pathOf } from './issues.ts'

/** What no header can carry, or no server would read as it was sent: spaces at the ends of a header are dropped. */
const UNSENDABLE: readonly (readonly [RegExp, what: string])[] = [
  [/[\r\n]/, 'a line break'],
  [/\p{Cc}/u, 'a control character'],
  [/^ | $/, 'a space at its beginning or end'],
  [/[^\0-\xff]/, 'a character outside of Latin-1'],
]

interface Keys {
  readonly apiKey?: string
  readonly apps: Readonly<Record<string, { readonly apiKey?: string }>>
}

/** Reports keys of an entry or a deployment that cannot be sent to the platform, without repeating them. */
export function findUnsendableKeys({ apiKey, apps }: Keys, path: string): ConfigIssue[] {
  const ofApps = Object.entries(apps).map(([id, app]) => [pathOf(`${path}.apps`, id), app.apiKey] as const)
  return [[path, apiKey] as const, ...ofApps].flatMap(([place, key = '']) => {
    const [, what] = UNSENDABLE.find(([pattern]) => pattern.test(key)) ?? []
    return what === undefined
      ? []
      : [{ path: `${place}.apiKey`, problem: `cannot be sent in a header, since it has ${what}` }]
  })
}
