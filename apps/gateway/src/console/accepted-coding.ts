/** Codings of content in the order in which they are preferred; files are stored in those that make them smaller. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** The first of `codings` that the header `Accept-Encoding` (RFC 9110, 12.5.3) accepts; undefined is the file as it is. */
export function acceptedCoding(header: string | undefined, codings: readonly Coding[]): Coding | undefined {
  if (header === undefined) return undefined
  const weights = new Map(header.toLowerCase().split(',').map(weighed))
  return codings.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0)
}

function weighed(item: string): readonly [coding: string, weight: number] {
  const [coding = '', ...parameters] = item.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [coding, weight === undefined ? 1 : Number(weight.slice(2))]
}
