/** Where a value lies in what a caller sent: core's own names, in camelCase, and indexes, such as `['files', 2]`. */
export type FieldPath = readonly (string | number)[]

/** How a face calls a field, such as `body.expires_at` or `--expires-at`. */
export type NameField = (field: FieldPath) => string

/** `['messages', 1, 'content']` becomes `messages[1].content`. */
export function joinPath(field: FieldPath): string {
  return field.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`
    return name === '' ? part : `${name}.${part}`
  }, '')
}

/** The content of these fields has no form of ours: the names below them are the caller's and stay as they were sent. */
const FREE_FORM: ReadonlySet<unknown> = new Set(['messages', 'tools', 'variables'])

/** The path in the words of a face that writes core's names in another case. */
export function renameFields(field: FieldPath, rename: (name: string) => string): FieldPath {
  const isOurs = (index: number) => index === 0 || !FREE_FORM.has(field[0])
  return field.map((part, index) => (typeof part === 'string' && isOurs(index) ? rename(part) : part))
}
