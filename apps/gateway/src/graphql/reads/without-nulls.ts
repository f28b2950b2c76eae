/** An input of which nothing is null: GraphQL clients may send null for what they leave out, core knows only undefined. */
export type WithoutNulls<Input> = { [Name in keyof Input]: Exclude<Input[Name], null> }

export function withoutNulls<Input extends object>(
  input: Input | null | undefined,
): Partial<WithoutNulls<Input>> {
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(given) as Partial<WithoutNulls<Input>>
}
