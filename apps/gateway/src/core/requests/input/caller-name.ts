/** What is shown of a name that the caller made up: whoever confuses a name with a value must not find all of it in a log. */
const CHARACTERS_MAX = 64

export function callerName(name: string): string {
  return name.length <= CHARACTERS_MAX ? name : `${name.slice(0, CHARACTERS_MAX).toWellFormed()}…`
}
