/** The path to a value in a caller's input: core's names in camelCase, and array indexes, such as `['files', 2]`. */
export type FieldPath = readonly (string | number)[]

/** Renders a path in the notation of a face, such as `body.expires_at` or `--expires-at`. */
export type NameField = (field: FieldPath) => string

/** Renders `['messages', 1, 'content']` as `messages[1].content`. */
export function joinPath(field: FieldPath): string {
  return field.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`
    return name === '' ? part : `${name}.${part}`
  }, '')
}

/** Fields with free-form content. Names below them were chosen by the caller and must not be renamed. */
const FREE_FORM: ReadonlySet<unknown> = new Set(['messages', 'tools', 'variables'])

/** Renames the parts of a path for a face that writes core's names in another case. */
export function renameFields(field: FieldPath, rename: (name: string) => string): FieldPath {
  const isOwnName = (index: number) => index === 0 || !FREE_FORM.has(field[0])
  return field.map((part, index) => (typeof part === 'string' && isOwnName(index) ? rename(part) : part))
}
