/** How much of a name from the caller is shown. A caller may have sent a value as a name, which must not be logged in full. */
const CHARACTERS_MAX = 64

export function callerName(name: string): string {
  return name.length <= CHARACTERS_MAX ? name : `${name.slice(0, CHARACTERS_MAX).toWellFormed()}…`
}
